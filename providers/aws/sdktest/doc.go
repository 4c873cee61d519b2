// Package sdktest checks the formats of package wire against AWS's own SDK for Go, in the
// versions that karpenter-provider-aws pins: what isn't written as the SDK reads it is a field
// that is missing here. It is a module of its own, so that nothing else depends on the SDK.
package sdktest
