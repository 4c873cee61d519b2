// Package check judges recordings: it says whether a promise was kept over the
// whole of a history, at every event and not at samples of it.
//
// # From objects to verdicts
//
// A Count is a named set of objects: ReadyNodes(pool), RunningPods(app), The(pool). It
// can be narrowed (With, In, Old, New, Staying, Deleting, On); Where makes one from scratch,
// of a Predicate.
//
// A Claim is true or false of one moment: AtMost(2, DisruptedNodes(pool)), None,
// Exactly, Each, Balanced, AtMostQuantity. Claims combine by AllOf, AnyOf, When, Untrue; That
// makes one of a function.
//
// A Check is a claim over a history:
//
//	Always(c), Never(c)    at every moment, at none
//	Sometimes(c)           at one at least: what the spec is about did happen
//	Finally(c)             at the end
//	While(count, c)        while one of the objects is counted, c
//	Until(a, b)            a, up to the moment of b, which comes
//	LeadsTo(a, b)          each time a becomes true, b is true then or later
//	Whenever(step, ...)    at each step of an object, a claim about that object
//	After(step, ...)       after each step, a claim about the object becomes true
//	Within(d, ...)         the same as LeadsTo or After, at most d later
//	Follow(words, ...)     whatever a memory of its own makes of the events
//
// What several suites check has a name of its own: ActsOnDrift(pool), HoldsDriftBack(pool).
//
// A Step is one object coming to be counted, or being so no longer: Enters(BoundPods(app))
// is that a pod is bound, Leaves(Nodes(pool)) that a node is gone.
//
// # Nothing happened is not a pass
//
// A check that was never put to the test is Vacuous, not Holds. Each claim knows
// whether a moment exercises it:
//
//	AtMost(n, c)       there is at least one: with none the bound can't be broken
//	None(c)            there is something that could come to be counted
//	                   (Count.Among): a node of the pool, for disrupted nodes; the
//	                   pool itself, for its nodes
//	AtLeast, Exactly   there is at least one, or there could be the first
//	Each(c, ...)       there is one to claim it of
//	Balanced(n, ...)   there are two domains at least
//	When(a, b)         a is true, and the moment exercises b
//
// Always and Never need one such moment in the history. LeadsTo needs the cause,
// Whenever and After need the step. That a bound was not only kept but used to the
// full is a check of its own: AtMost(2, DisruptedNodes(pool)).Reached().
//
// # A gap is not a pass either
//
// Where the recording has a gap a check can't hold: what isn't seen may have
// happened all the same. So Holds and Vacuous turn into Unknown. A breach that was
// seen stays Broken, if it is a breach whatever the gap hid: a claim that was false
// at a moment. That something never came (Sometimes, Finally, LeadsTo), or came too
// late or in the wrong order with a gap before it (Within, Until, Whenever), is
// Unknown.
//
// # Cost
//
// A claim is asked again only after events of the resources that it reads, and a
// match function once for each state of each object. A history of 100,000 events is
// judged in a second or so, most of which is decoding its objects; later checks of
// the same history find them decoded.
package check
