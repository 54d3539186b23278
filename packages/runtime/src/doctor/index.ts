export { examine, type Examination, type ExamineOptions, type GrammarFinding, type Tries } from "./examine.ts"
export { keepExamination, keptExamination } from "./kept.ts"
export { examinationText } from "./words.ts"
