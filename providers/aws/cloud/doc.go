// Package cloud simulates the state of a region of AWS. Package wire adds the protocols.
//
// It holds what karpenter-provider-aws uses: instance types with offerings and prices, images,
// subnets, security groups, instance profiles, launch templates, instances, and a queue with
// EventBridge's events about instances. It behaves as AWS documents its services: instances
// take time to start and to end, a launch can lack capacity, an answer can be stale. A [Fault]
// is a failure on purpose.
//
// Methods are safe for concurrent use. The services' errors are [Error]s with AWS's own codes.
package cloud
