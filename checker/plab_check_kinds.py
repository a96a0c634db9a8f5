"""Check which kind of infeasibility is proved: python plab_check_kinds.py CERTIFICATE [DATA].

The readers of data and numbers are those of plab_check.py, which lies beside this file; exit codes
are the same. K is a product of blocks, <.,.> its inner product (of matrices the trace), and K its
own dual cone. The data are A in whole numbers, A y = (x_0, F) for y = (x_0, x): of x_0 > 0 the
question is whether F / x_0 is in K. The first block is the row x_0.

Elements w_1, w_2, ... are a *chain* if w_j has the form (*) on each block, T the zeros of before:

    matrix:        sum_k d_k v_k v_k' + sum_k (t_k u_k' + u_k t_k'), d_k >= 0, t_k in T; v_k joins T
    rows:          numbers, those of places outside T >= 0; places of numbers > 0 join T
    second-order:  (u, t), norm(u) <= t; later <(u, t), r> >= 0 for the ray r that is left

Lemma. If s is in K and <w_j, s> = 0 for all j of a chain, then s v = 0 for all vectors v of T in a
matrix, s_i = 0 for all places of T, and s is a multiple >= 0 of r in a second-order block, or 0.
Proof. By induction the terms with T and u are 0. <w_j, s> = 0 is then a sum of terms >= 0: all are
0, and v'sv = 0 makes s v = 0. In a second-order block <w, s> = 0 for w, s in K leaves s = 0 if
norm(u) < t, and a multiple of r = (-u, t) if norm(u) = t, where <w_j, r> > 0 leaves 0.
"""

import sys
from operator import mul

from plab_check import (
    FORMED,
    MATRIX,
    entries,
    fields,
    main,
    numbers,
    pairs,
    readable,
    require,
    whole,
)

# Keys and sentences, {in} being "F(x) in the closed cone" in the words of the data
KINDS = {
    "strong": "chain|no {x} has {in}, and their distance from the cone is positive",
    "no point": "chain|no {x} has {in}",
    "weak": "chain sequence|no {x} has {in}, and their distance from the cone is 0",
    "boundary only": "chain sequence|some {x} has {in}, and none strictly so in blocks {of}",
}


class Face:
    """The elements s of K with <w, s> = 0 for all w that were added: T, block by block."""

    def __init__(self, blocks):
        """Start with K itself: no zeros, and of a second-order block no ray."""
        self.blocks = blocks
        self.zeros = [set() if kind == "rows" else [] for kind, _ in blocks]

    def added(self, lists):
        """Return the next element {(block, i, j): number}, i <= j, of a chain, and add it."""
        readable(type(lists) is list and len(lists) == len(self.blocks), "no list for each block")
        element = {}
        for b, ((kind, order), zeros) in enumerate(zip(self.blocks, self.zeros, strict=True)):
            of_kind = {"matrix": matrix, "rows": row_weights, "second-order": pair}[kind]
            values = of_kind(order, lists[b], zeros)
            element |= {(b, *at): value for at, value in values.items() if value}
        return element


def matrix(order, lists, zeros):
    """Return [parts, vectors, [[number of t, u], ...]] of the form (*) as {(i, j): number}."""
    readable(type(lists) is list and len(lists) == 3, "a matrix has parts, vectors and products")
    parts, vectors = numbers(lists[0]), [numbers(v, order) for v in lists[1]]
    require(min(parts, default=0) >= 0, "a part is negative")
    terms = len(parts) + 2 * len(lists[2])
    readable(order**2 * terms <= FORMED, "too many products of entries")
    left = [[d * x for x in v] for d, v in zip(parts, vectors, strict=True)]
    right = list(vectors)
    for at, sparse in lists[2]:
        t, u = zeros[whole(at, 0, len(zeros) - 1)], entries(sparse, order)
        u = [u.get(i, 0) for i in range(order)]
        left, right = [*left, t, u], [*right, u, t]
    left, right = ([[x[i] for x in side] for i in range(order)] for side in (left, right))
    zeros += [v for d, v in zip(parts, vectors, strict=True) if d]
    places = pairs(order, order) if terms else ()
    return {(i, j): sum(map(mul, left[i], right[j])) for i, j in places}


def row_weights(order, lists, zeros):
    """Return [places, numbers] of rows as {(i, i): number}."""
    values = entries(lists, order)
    require(all(x >= 0 or i in zeros for i, x in values.items()), "a weight of a row is negative")
    zeros |= {i for i, x in values.items() if x > 0}
    return {(i, i): x for i, x in values.items()}


def pair(order, lists, zeros):
    """Return [places, numbers] of (u, t) as {(i, i): number}; zeros is [r], [0] or []."""
    values = entries(lists, order)
    w = [values.get(i, 0) for i in range(order)]
    ray = [*(-x for x in w[:-1]), w[-1]]
    if not zeros:
        square = sum(map(mul, w, ray))  # t^2 - norm(u)^2
        require(w[-1] >= 0 and square >= 0, "norm(u) <= t does not hold in a block")
        zeros += [0 if square else ray] if any(w) else []
    elif zeros[0]:
        product = sum(map(mul, w, zeros[0]))
        require(product >= 0, "the product with a ray is negative")
        zeros[0] = 0 if product else zeros[0]
    return {(i, i): x for i, x in values.items()}


def last_of_chain(system, chain):
    """Return the last of a chain of w with A'w = 0: A y in K has <w, A y> = (A'w)'y = 0."""
    face, element = Face(system.blocks), {}
    for lists in chain:
        element, total = face.added(lists), [0] * system.width
        for b, i, j, columns, values in system.rows:
            weight = element.get((b, i, j), 0) * (1 + (i != j))
            for at, value in zip(columns, values, strict=True) if weight else ():
                total[at] += weight * value
        require(not any(total), "the sum of rows with these weights is not 0")
    return element


def last_of_sequence(system, sequence):
    """Return the last of a chain of s = A y / multiple: A'w = 0 has <s, w> = 0."""
    face, element = Face(system.blocks), {}
    for y, multiple, lists in sequence:
        y, multiple, element = numbers(y, system.width), whole(multiple, 1), face.added(lists)
        rest = dict(element)
        for b, i, j, columns, values in system.rows:
            score = sum(map(mul, values, map(y.__getitem__, columns)))
            require(score == multiple * rest.pop((b, i, j), 0), "A y is not the element stated")
        require(not rest, "an entry of the element is not one of A y")
    return element


def check_kind(system, claim):
    """Check a claim that has just the keys that it needs, and return its sentence.

    No point: the last w of a chain has w_0 > 0. If A y is in K, the lemma and <w, A y> = 0 make
    x_0 = 0. Strong: there is one w, in K; <w, (1, F)> = 0 makes <w, F> = -w_0 < 0 for all x, so
    that the distance of F from K is w_0 / norm(w) or more. Weak: moreover the last s = A y of a
    chain has s_0 > 0, so that no w in K with A'w = 0 has w_0 > 0; a positive distance would give
    such a w, by separation. Boundary only: one s = A y in K with x_0 > 0, and a w in K, not 0: its
    product with s that are strictly in all blocks where it is not 0 would be positive.
    """
    names, sentence = KINDS[claim["claim"]].split("|")
    steps = fields(claim, f"claim {names}")[1:]
    readable(all(type(each) is list and each for each in steps), "a list without steps")
    first = system.rows[0]
    used = [(at, value) for at, value in zip(*first[3:], strict=True) if value]
    fits = system.blocks[0] == ("rows", 1) and first[:3] == (0, 0, 0)
    fits = fits and [at for at, _ in used] == [0] and used[0][1] > 0
    readable(fits, "the data have no row x_0 > 0 as their first block")
    strong, boundary = claim["claim"] == "strong", claim["claim"] == "boundary only"
    alone = [len(each) == 1 for each in steps]
    readable(all(alone) or not (strong or boundary), "more than one step")
    last = last_of_chain(system, claim["chain"])
    require(last.get((0, 0, 0), 0) > 0 or (boundary and last), "the last w does not exclude x_0")
    of = sorted({b for b, _, _ in last})
    if "sequence" in claim:
        last = last_of_sequence(system, claim["sequence"])
        require(last.get((0, 0, 0), 0) > 0, "the last point has no x_0 > 0")
    sdpa = system.form == "sdpa"
    inside = f"{MATRIX} semidefinite" if sdpa else "A y in the closed cone and x_0 = 1"
    return sentence.format(**{"x": "x" if sdpa else "y", "in": inside, "of": of})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], check_kind))
