//go:build linux && (amd64 || arm64)

package ptrace

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// routineAddress returns where this program has the routine, which is copied into others.
func routineAddress() unsafe.Pointer

// endMark marks the end of the routine.
const endMark = 0x656e696c626d756c

// routineFor returns the routine for a program that has the page at an address.
func routineFor(page uint64) []byte {
	mark := binary.LittleEndian.AppendUint64(nil, endMark)
	body := unsafe.Slice((*byte)(routineAddress()), maxRoutine) //nolint:gosec // it is the text of this program
	return append(loadPage(page), body[:bytes.Index(body, mark)]...)
}

// maxRoutine is more than the routine takes, in bytes.
const maxRoutine = 1024
