// Package explore plays sequences of actions that nobody wrote: objects that come, change and go, nodes that fail, a
// controller that dies, time that passes. Package draw makes them up. No claim is made about a sequence; the
// invariants judge its recording, as they do any spec's.
package explore
