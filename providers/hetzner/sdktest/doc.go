// Package sdktest checks the simulated Hetzner Cloud with Hetzner's own client for Go, in the version that
// karpenter-provider-hetzner pins. The package is a separate module, so that nothing else depends on the client.
package sdktest
