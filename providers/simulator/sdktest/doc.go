// Package sdktest checks with an SDK of Google's that a client without any setting for an endpoint
// reaches a simulator, by what the harness gives to a controller for simulator: {proxy: true}. The
// package is a separate module, so that nothing else depends on the SDK.
package sdktest
