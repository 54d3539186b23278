// Fused kernels for training on a CPU: bfloat16 in and out, 32-bit floats inside. Built as kernels.py says.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef uint16_t bf;
typedef float V16 __attribute__((vector_size(64), aligned(4)));
static inline float b2f(bf x) {
  union {
    uint32_t u;
    float f;
  } v;
  v.u = ((uint32_t)x) << 16;
  return v.f;
}
static inline bf f2b(float f) {
  union {
    uint32_t u;
    float f;
  } v;
  v.f = f;
  return (bf)((v.u + 0x7fff + ((v.u >> 16) & 1)) >> 16);
}
void rms_fwd(const bf *x, const float *w, bf *y, float *r, long N, long D) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < N; i++) {
    const bf *a = x + i * D;
    bf *o = y + i * D;
    float s = 0;
    for (long d = 0; d < D; d++) {
      float v = b2f(a[d]);
      s += v * v;
    }
    s = 1.0f / sqrtf(s / D + 1e-5f);
    r[i] = s;
    for (long d = 0; d < D; d++)
      o[d] = f2b(b2f(a[d]) * s * w[d]);
  }
}
void rms_bwd(const bf *x, const float *w, const float *r, const bf *g, bf *gx, float *gw, long N, long D) {
#pragma omp parallel
  {
    float *acc = calloc(D, 4);
#pragma omp for schedule(static)
    for (long i = 0; i < N; i++) {
      const bf *a = x + i * D, *h = g + i * D;
      bf *o = gx + i * D;
      float s = r[i], m = 0;
      for (long d = 0; d < D; d++)
        m += b2f(h[d]) * w[d] * b2f(a[d]);
      m = m * s * s / D;
      for (long d = 0; d < D; d++) {
        float n = b2f(a[d]), q = b2f(h[d]);
        acc[d] += q * n * s;
        o[d] = f2b(s * (q * w[d] - n * m));
      }
    }
#pragma omp critical
    for (long d = 0; d < D; d++)
      gw[d] += acc[d];
    free(acc);
  }
}
void swi_fwd(const bf *gu, bf *h, long N, long F) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < N; i++) {
    const bf *g = gu + i * 2 * F, *u = g + F;
    bf *o = h + i * F;
    for (long d = 0; d < F; d++) {
      float a = b2f(g[d]);
      o[d] = f2b(a / (1.0f + expf(-a)) * b2f(u[d]));
    }
  }
}
void swi_bwd(const bf *gu, const bf *gh, bf *o, long N, long F) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < N; i++) {
    const bf *g = gu + i * 2 * F, *u = g + F, *h = gh + i * F;
    bf *og = o + i * 2 * F, *ou = og + F;
    for (long d = 0; d < F; d++) {
      float a = b2f(g[d]), b = b2f(u[d]), q = b2f(h[d]), s = 1.0f / (1.0f + expf(-a));
      og[d] = f2b(q * b * s * (1.0f + a * (1.0f - s)));
      ou[d] = f2b(q * a * s);
    }
  }
}
#define ATT(HD)                                                                                                        \
  static void load##HD(const bf *qkv, const float *cs, const float *sn, long b, long h, long T, long H, float *q,      \
                       float *k, float *v) {                                                                           \
    const long hh = HD / 2;                                                                                            \
    for (long t = 0; t < T; t++) {                                                                                     \
      const bf *p = qkv + ((b * T + t) * 3 * H + h) * HD;                                                              \
      const bf *pk = p + H * HD, *pv = pk + H * HD;                                                                    \
      const float *c = cs + t * hh, *s = sn + t * hh;                                                                  \
      for (long d = 0; d < hh; d++) {                                                                                  \
        float x = b2f(p[d]), y = b2f(p[d + hh]);                                                                       \
        q[t * HD + d] = x * c[d] - y * s[d];                                                                           \
        q[t * HD + d + hh] = y * c[d] + x * s[d];                                                                      \
        x = b2f(pk[d]);                                                                                                \
        y = b2f(pk[d + hh]);                                                                                           \
        k[t * HD + d] = x * c[d] - y * s[d];                                                                           \
        k[t * HD + d + hh] = y * c[d] + x * s[d];                                                                      \
      }                                                                                                                \
      for (long d = 0; d < HD; d++)                                                                                    \
        v[t * HD + d] = b2f(pv[d]);                                                                                    \
    }                                                                                                                  \
  }                                                                                                                    \
  static void fwd##HD(const bf *qkv, const float *cs, const float *sn, bf *out, float *lse, long B, long T, long H) {  \
    const float sc = 1.0f / sqrtf(HD);                                                                                 \
    _Pragma("omp parallel") {                                                                                          \
      float *__restrict q = malloc(T * HD * 4);                                                                        \
      float *__restrict k = malloc(T * HD * 4);                                                                        \
      float *__restrict v = malloc(T * HD * 4);                                                                        \
      const long Tp = (T + 15) & ~15L;                                                                                 \
      float *__restrict kt = calloc(Tp * HD, 4);                                                                       \
      float *__restrict s = malloc(Tp * 4);                                                                            \
      _Pragma("omp for schedule(dynamic,2)") for (long z = 0; z < B * H; z++) {                                        \
        long b = z / H, h = z % H;                                                                                     \
        load##HD(qkv, cs, sn, b, h, T, H, q, k, v);                                                                    \
        for (long t = 0; t < T; t++)                                                                                   \
          for (long d = 0; d < HD; d++)                                                                                \
            kt[d * Tp + t] = k[t * HD + d];                                                                            \
        for (long i = 0; i < T; i++) {                                                                                 \
          long n = i + 1;                                                                                              \
          const float *qi = q + i * HD;                                                                                \
          long n16 = (n + 15) & ~15L;                                                                                  \
          for (long j = 0; j < n16; j += 16) {                                                                         \
            V16 A = {0};                                                                                               \
            for (int d = 0; d < HD; d++)                                                                               \
              A += (qi[d] * sc) * (*(const V16 *)(kt + d * Tp + j));                                                   \
            *(V16 *)(s + j) = A;                                                                                       \
          }                                                                                                            \
          for (long j = n; j < n16; j++)                                                                               \
            s[j] = -1e30f;                                                                                             \
          float m = -1e30f;                                                                                            \
          for (long j = 0; j < n16; j++)                                                                               \
            m = s[j] > m ? s[j] : m;                                                                                   \
          float e = 0;                                                                                                 \
          for (long j = 0; j < n16; j++) {                                                                             \
            s[j] = expf(s[j] - m);                                                                                     \
            e += s[j];                                                                                                 \
          }                                                                                                            \
          lse[z * T + i] = m + logf(e);                                                                                \
          float iv = 1.0f / e;                                                                                         \
          V16 O[HD / 16];                                                                                              \
          for (int d = 0; d < HD / 16; d++)                                                                            \
            O[d] = (V16){0};                                                                                           \
          for (long j = 0; j < n; j++) {                                                                               \
            float p = s[j];                                                                                            \
            const V16 *vj = (const V16 *)(v + j * HD);                                                                 \
            for (int d = 0; d < HD / 16; d++)                                                                          \
              O[d] += p * vj[d];                                                                                       \
          }                                                                                                            \
          bf *w = out + ((b * T + i) * H + h) * HD;                                                                    \
          for (int d = 0; d < HD; d++)                                                                                 \
            w[d] = f2b(O[d / 16][d % 16] * iv);                                                                        \
        }                                                                                                              \
      }                                                                                                                \
      free(q);                                                                                                         \
      free(k);                                                                                                         \
      free(v);                                                                                                         \
      free(kt);                                                                                                        \
      free(s);                                                                                                         \
    }                                                                                                                  \
  }                                                                                                                    \
  static void bwd##HD(const bf *qkv, const float *cs, const float *sn, const float *lse, const bf *go, bf *gq, long B, \
                      long T, long H) {                                                                                \
    const float sc = 1.0f / sqrtf(HD);                                                                                 \
    const long hh = HD / 2;                                                                                            \
    _Pragma("omp parallel") {                                                                                          \
      const long Tp = (T + 15) & ~15L;                                                                                 \
      float *M = calloc(Tp * HD * 8 + Tp * 2 + 64, 4);                                                                 \
      float *__restrict q = M;                                                                                         \
      float *__restrict k = q + T * HD;                                                                                \
      float *__restrict v = k + T * HD;                                                                                \
      float *__restrict kt = v + T * HD;                                                                               \
      float *__restrict vt = kt + Tp * HD;                                                                             \
      float *__restrict dq = vt + Tp * HD;                                                                             \
      float *__restrict dk = dq + T * HD;                                                                              \
      float *__restrict dv = dk + T * HD;                                                                              \
      float *__restrict s = dv + T * HD;                                                                               \
      float *__restrict p = s + Tp;                                                                                    \
      _Pragma("omp for schedule(dynamic,2)") for (long z = 0; z < B * H; z++) {                                        \
        long b = z / H, h = z % H;                                                                                     \
        load##HD(qkv, cs, sn, b, h, T, H, q, k, v);                                                                    \
        for (long t = 0; t < T; t++)                                                                                   \
          for (long d = 0; d < HD; d++) {                                                                              \
            kt[d * Tp + t] = k[t * HD + d];                                                                            \
            vt[d * Tp + t] = v[t * HD + d];                                                                            \
          }                                                                                                            \
        memset(dk, 0, T *HD * 8);                                                                                      \
        for (long i = 0; i < T; i++) {                                                                                 \
          long n = i + 1;                                                                                              \
          const float *qi = q + i * HD;                                                                                \
          float g[HD], qv[HD];                                                                                         \
          for (int d = 0; d < HD; d++)                                                                                 \
            qv[d] = qi[d];                                                                                             \
          const bf *w = go + ((b * T + i) * H + h) * HD;                                                               \
          float nz = 0;                                                                                                \
          for (int d = 0; d < HD; d++) {                                                                               \
            g[d] = b2f(w[d]);                                                                                          \
            nz += fabsf(g[d]);                                                                                         \
          }                                                                                                            \
          float o[HD];                                                                                                 \
          V16 O[HD / 16], Q[HD / 16], G[HD / 16];                                                                      \
          for (int d = 0; d < HD / 16; d++) {                                                                          \
            O[d] = (V16){0};                                                                                           \
            for (int e = 0; e < 16; e++) {                                                                             \
              Q[d][e] = qv[d * 16 + e];                                                                                \
              G[d][e] = g[d * 16 + e];                                                                                 \
            }                                                                                                          \
          }                                                                                                            \
          if (nz > 0) {                                                                                                \
            float L = lse[z * T + i];                                                                                  \
            long n16 = (n + 15) & ~15L;                                                                                \
            for (long j = 0; j < n16; j += 16) {                                                                       \
              V16 A = {0}, Bv = {0};                                                                                   \
              for (int d = 0; d < HD; d++) {                                                                           \
                A += (qi[d] * sc) * (*(const V16 *)(kt + d * Tp + j));                                                 \
                Bv += g[d] * (*(const V16 *)(vt + d * Tp + j));                                                        \
              }                                                                                                        \
              *(V16 *)(p + j) = A;                                                                                     \
              *(V16 *)(s + j) = Bv;                                                                                    \
            }                                                                                                          \
            for (long j = n; j < n16; j++)                                                                             \
              p[j] = -1e30f;                                                                                           \
            float dl = 0;                                                                                              \
            for (long j = 0; j < n16; j++) {                                                                           \
              p[j] = expf(p[j] - L);                                                                                   \
              dl += p[j] * s[j];                                                                                       \
            }                                                                                                          \
            for (long j = 0; j < n16; j++)                                                                             \
              s[j] = p[j] * (s[j] - dl) * sc;                                                                          \
            for (long j = 0; j < n; j++) {                                                                             \
              float a = s[j], c = p[j];                                                                                \
              const V16 *kj = (const V16 *)(k + j * HD);                                                               \
              V16 *x = (V16 *)(dk + j * HD);                                                                           \
              V16 *y = (V16 *)(dv + j * HD);                                                                           \
              for (int d = 0; d < HD / 16; d++) {                                                                      \
                x[d] += a * Q[d];                                                                                      \
                y[d] += c * G[d];                                                                                      \
                O[d] += a * kj[d];                                                                                     \
              }                                                                                                        \
            }                                                                                                          \
          }                                                                                                            \
          for (int d = 0; d < HD; d++)                                                                                 \
            dq[i * HD + d] = O[d / 16][d % 16];                                                                        \
        }                                                                                                              \
        for (long t = 0; t < T; t++) {                                                                                 \
          bf *a = gq + ((b * T + t) * 3 * H + h) * HD, *c = a + H * HD, *e = c + H * HD;                               \
          const float *cc = cs + t * hh, *ss = sn + t * hh;                                                            \
          float *x = dq + t * HD, *y = dk + t * HD;                                                                    \
          for (long d = 0; d < hh; d++) {                                                                              \
            a[d] = f2b(x[d] * cc[d] + x[d + hh] * ss[d]);                                                              \
            a[d + hh] = f2b(x[d + hh] * cc[d] - x[d] * ss[d]);                                                         \
            c[d] = f2b(y[d] * cc[d] + y[d + hh] * ss[d]);                                                              \
            c[d + hh] = f2b(y[d + hh] * cc[d] - y[d] * ss[d]);                                                         \
          }                                                                                                            \
          for (long d = 0; d < HD; d++)                                                                                \
            e[d] = f2b(dv[t * HD + d]);                                                                                \
        }                                                                                                              \
      }                                                                                                                \
      free(M);                                                                                                         \
    }                                                                                                                  \
  }
ATT(32)
ATT(64) void att_fwd(const bf *qkv, const float *cs, const float *sn, bf *out, float *lse, long B, long T, long H,
                     long hd) {
  if (hd == 32)
    fwd32(qkv, cs, sn, out, lse, B, T, H);
  else
    fwd64(qkv, cs, sn, out, lse, B, T, H);
}
void att_bwd(const bf *qkv, const float *cs, const float *sn, const float *lse, const bf *go, bf *gq, long B, long T,
             long H, long hd) {
  if (hd == 32)
    bwd32(qkv, cs, sn, lse, go, gq, B, T, H);
  else
    bwd64(qkv, cs, sn, lse, go, gq, B, T, H);
}
