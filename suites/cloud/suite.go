// Package cloud holds what is promised of a provider's dealings with its cloud,
// which has no capacity for a while, loses answers, tells how things were, ends
// instances by itself and says so before, or doesn't. A provider may be late then. It
// may not pay for what nobody has asked for, lose what runs, or leave a pod without a
// node.
//
// What is done to the cloud is done by the adapter's hooks: where it has none for it,
// the spec is skipped.
package cloud

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "cloud ...": a cloud that has done something, and what comes of it.
var Suite = e2e.NewSuite("cloud")
