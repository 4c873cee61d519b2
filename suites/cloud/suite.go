// Package cloud holds the specs for a provider whose cloud has no capacity for a while,
// loses responses, returns old data, or ends instances with or without notice. The
// provider may be late then. It must not pay for instances that nobody requested, lose
// running instances, or leave a pod without a node.
//
// The adapter's hooks change the cloud. A spec is skipped if the adapter lacks a hook for
// it.
package cloud

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "cloud: ...": what the provider does when its cloud fails or ends instances.
var Suite = e2e.NewSuite("cloud:")
