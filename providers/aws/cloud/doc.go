// Package cloud is a region of a simulated AWS: what its services know, without how they
// are spoken to, which is package wire's.
//
// It holds what karpenter-provider-aws asks for: instance types with their offerings and
// prices, images, subnets, security groups, instance profiles, launch templates, instances
// and a queue of what EventBridge would tell of them. It behaves as the services document it:
// instances take time to start and to end, a launch fails where there is no capacity, an
// answer can be stale. What goes wrong on purpose is a [Fault].
//
// Methods may be called from any goroutine. Their errors are [Error]s with AWS's own codes.
package cloud
