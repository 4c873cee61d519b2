//go:build !linux || !(amd64 || arm64)

// Package page is empty here: clocks are bent on Linux only.
package page
