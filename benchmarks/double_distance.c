/* The loops of double_accuracy.py: distances of doubles from functions of libquadmath in units of the last place. It
   appends EACH(name, value of __float128 x and y, least) for every function; see Reference in double_references.py. */
#include <math.h>
#include <quadmath.h>
#include <stddef.h>

typedef __float128 quad;

/* Infinity where NaN, an infinity or the sign of a zero is wrong; beyond the largest double the next one is 2**1024. */
static double distance(double found, quad truth, double least) {
    double nearest = (double)truth;
    if (isnan(found) || isnanq(truth)) return isnan(found) && isnanq(truth) ? 0 : INFINITY;
    if (found == nearest && isinf(found)) return 0;
    if (isinfq(truth)) return INFINITY;
    if (truth == 0 && found == 0) return !signbit(found) == !signbitq(truth) ? 0 : INFINITY;
    quad value = isinf(found) ? copysignq(0x1p1024q, found) : (quad)found;
    int exponent, lowest;
    frexpq(truth, &exponent);
    frexp(least, &lowest);
    lowest = least == 0 ? -1021 : lowest;
    exponent = truth == 0 || exponent < lowest ? lowest : exponent;
    return (double)fabsq(scalbnq(value - truth, 53 - exponent));
}

/* Return the largest distance, its index in `place`, and in `misrounded` how many are not the nearest double. */
#define EACH(name, value, least) \
    double measure_##name(const double *xs, const double *ys, const double *found, size_t count, size_t *place, \
                          size_t *misrounded) { \
        double largest = -1; \
        size_t wrong = 0; \
        for (size_t i = 0; i < count; i++) { \
            quad x = xs[i], y = ys[i], truth = value; \
            double error = distance(found[i], truth, least), nearest = (double)truth; \
            (void)y; \
            wrong += found[i] != nearest && !(isnan(found[i]) && isnan(nearest)); \
            if (error > largest) largest = error, *place = i; \
        } \
        *misrounded = wrong; \
        return largest; \
    }
