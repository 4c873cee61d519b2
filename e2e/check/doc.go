// Package check judges recordings: it decides whether a promise was kept at every event of a
// history, not only at samples.
//
// # From objects to verdicts
//
// A Count is a named set of objects: ReadyNodes(pool), RunningPods(app), The(pool). With, In,
// Old, New, Staying, Deleting and On narrow it. Where makes one from a Predicate.
//
// A Claim is true or false at one moment: AtMost(2, DisruptedNodes(pool)), None, Exactly,
// Each, Balanced, AtMostQuantity. AllOf, AnyOf, When and Untrue combine claims. The function
// That makes a claim from a function.
//
// A Check is a claim about a whole history:
//
//	Always(c), Never(c)    at every moment, at no moment
//	Sometimes(c)           at one moment at least: the case of the spec did happen
//	Finally(c)             at the end
//	While(count, c)        c, while one of the objects is counted
//	Until(a, b)            a until b becomes true, and b does become true
//	LeadsTo(a, b)          each time a becomes true, b is true then or later
//	Whenever(step, ...)    at each step of an object, a claim about that object
//	After(step, ...)       after each step, a claim about the object becomes true
//	Within(d, ...)         LeadsTo or After, at most d later
//	Follow(words, ...)     a Monitor with its own memory judges the events
//
// Checks that several suites share have names: ActsOnDrift(pool), HoldsDriftBack(pool).
//
// A Step is the moment when one object starts or stops being counted: Enters(BoundPods(app))
// means that a pod is bound, Leaves(Nodes(pool)) that a node is gone.
//
// # Nothing happened is not a pass
//
// A check that was never put to the test is Vacuous, not Holds. A moment exercises a claim if:
//
//	AtMost(n, c)       there is at least one: with none the bound can't be broken
//	None(c)            there are candidates (Count.Among): a node of the pool, for
//	                   disrupted nodes; the pool itself, for its nodes
//	AtLeast, Exactly   there is at least one, or there could be the first
//	Each(c, ...)       there is at least one
//	Balanced(n, ...)   there are at least two values of the label
//	When(a, b)         a is true, and the moment exercises b
//
// Always and Never need one such moment in the history. LeadsTo needs the cause, Whenever and
// After need the step. That a bound was used to the full is a separate check: AtMost(2,
// DisruptedNodes(pool)).Reached().
//
// # A gap is not a pass either
//
// A check cannot hold over a recording with a gap, because a breach may be missing. Holds and
// Vacuous become Unknown. A breach stays Broken if no missing event could undo it: a claim was
// false at a moment. It becomes Unknown if something never came (Sometimes, Finally, LeadsTo),
// came too late (Within), or came in the wrong order with a gap before it (Until, Whenever).
//
// # Cost
//
// A claim is evaluated only after events of the resources that it reads, and a match function
// once for each state of each object. Judging 100,000 events takes about a second, mostly to
// decode their objects. Later checks of the same history find them decoded.
package check
