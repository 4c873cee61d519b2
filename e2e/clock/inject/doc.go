//go:build !linux || !(amd64 || arm64)

// Package inject is empty here: clocks are bent on Linux only.
package inject
