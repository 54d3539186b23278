export type { Examination, GrammarFinding, Tries } from "./examination.ts"
export { examine, type ExamineOptions } from "./examine.ts"
export { keepExamination, keptExamination } from "./kept.ts"
export { examinationText } from "./words.ts"
