// Package sdktest checks the formats of the simulated Azure with Azure's own SDK for Go, in the
// versions that karpenter-provider-azure pins. A field that the SDK cannot read is missing in its
// answer. The package is a separate module, so that nothing else depends on the SDK.
package sdktest
