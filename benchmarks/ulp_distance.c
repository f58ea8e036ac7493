/* The loops of math_accuracy.py that NumPy takes too long for: distances in units of the last place of float, and the
   C library's functions of double (its vector forms where there are any: glibc's libmvec, within 4 units of double). */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VECTOR(name) __attribute__((simd("notinbranch"))) double name(double); EACH(name, name((double)x[i]))
#define EACH(name, value) \
    void each_##name(const float *restrict x, double *restrict out, size_t count) { \
        for (size_t i = 0; i < count; i++) out[i] = value; \
    }
VECTOR(acos) VECTOR(acosh) VECTOR(asin) VECTOR(asinh) VECTOR(atan) VECTOR(atanh) VECTOR(cbrt) VECTOR(cos) VECTOR(cosh)
VECTOR(erf) VECTOR(erfc) VECTOR(exp) VECTOR(exp10) VECTOR(exp2) VECTOR(expm1) VECTOR(log) VECTOR(log10) VECTOR(log1p)
VECTOR(log2) VECTOR(sin) VECTOR(sinh) VECTOR(tan) VECTOR(tanh)
EACH(sqrt, sqrt((double)x[i]))
EACH(rsqrt, 1 / sqrt((double)x[i]))

/* The gamma functions, which take most of the time: near 0 the first terms of their series (the next is 2**-59 of
   them); the poles, which all numbers below -2**23 are. */
#define EULER 0.57721566490153286061
static double gamma_of(double x) {
    if (fabs(x) < 0x1p-30) return 1 / x - EULER;
    if (x > 200) return INFINITY;
    return x < -0x1p23 ? NAN : tgamma(x);
}
static double log_gamma_of(double x) {
    if (fabs(x) < 0x1p-30) return -log(fabs(x)) - EULER * x;
    return x < -0x1p23 ? INFINITY : lgamma(x);
}
EACH(tgamma, gamma_of((double)x[i]))
EACH(lgamma, log_gamma_of((double)x[i]))

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

static inline double number_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

static inline int64_t mask_of(int condition) { return -(int64_t)condition; }

/* The distance as a double's bits, without branches so that the loop is vectorised. Infinity where NaN, an infinity or
   the sign of a zero is wrong; beyond the largest float the next one is 2**128. */
static inline int64_t distance(float found, double truth) {
    const int64_t infinity = 0x7ffll << 52;
    float nearest = (float)truth;
    int64_t bits = (int64_t)bits_of(truth), sign = bits & INT64_MIN;
    int64_t exponent = (bits >> 52 & 0x7ff) - 1023;
    exponent = exponent > -126 ? exponent : -126;
    double units = number_of((uint64_t)(1023 + 23 - exponent) << 52);
    int64_t value = (int64_t)bits_of((double)found);
    int64_t beyond = mask_of((value & INT64_MAX) == infinity) & mask_of((value ^ bits) >= 0) &
                     mask_of((bits & INT64_MAX) < infinity);
    value = (value & ~beyond) | ((sign | (int64_t)(1023 + 128) << 52) & beyond);
    int64_t error = (int64_t)bits_of((number_of((uint64_t)value) - truth) * units) & INT64_MAX;
    int64_t right = mask_of((found != found) & (nearest != nearest)) | mask_of(found == nearest);
    int64_t special = mask_of(!(fabsf(nearest) <= 0x1.fffffep127f));
    error &= ~(special & right);
    int64_t wrong_sign = mask_of(found == 0) & mask_of((value ^ bits) < 0);
    error = error < infinity ? error : infinity;
    return (error & ~wrong_sign) | (infinity & wrong_sign);
}

/* Return the largest distance, its index in `place`, and in `misrounded` how many are not the nearest float. */
double measure(const float *restrict found, const double *restrict truth, size_t count, size_t *place,
               size_t *misrounded) {
    int64_t largest = -1; /* Bits of numbers that are not negative are ordered as the numbers are. */
    size_t wrong = 0;
    for (size_t first = 0; first < count; first += 4096) {
        size_t end = first + 4096 < count ? first + 4096 : count;
        int64_t of_block = -1;
        for (size_t i = first; i < end; i++) {
            int64_t error = distance(found[i], truth[i]);
            float nearest = (float)truth[i];
            of_block = error > of_block ? error : of_block;
            wrong += !((found[i] == nearest) | ((found[i] != found[i]) & (nearest != nearest)));
        }
        if (of_block > largest) {
            largest = of_block;
            *place = first;
            while (distance(found[*place], truth[*place]) != largest) ++*place;
        }
    }
    *misrounded = wrong;
    return number_of((uint64_t)largest);
}
