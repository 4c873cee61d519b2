// Package history records everything that the API server says and gives it
// back as a sequence of events that can be judged.
//
// A Recorder watches; a History is what was recorded up to a moment; a World
// is the state that the events add up to.
package history
