//go:build !linux || !(amd64 || arm64)

// Package keep is empty here: clocks are bent on Linux only.
package keep
