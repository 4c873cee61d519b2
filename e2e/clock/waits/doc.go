//go:build !linux || !(amd64 || arm64)

// Package waits is empty here: clocks are bent on Linux only.
package waits
