//go:build linux && (amd64 || arm64)

package ptrace

import (
	"bytes"
	"encoding/binary"
	"time"
	"unsafe"
)

// routineAddress returns the address of the routine in this program.
func routineAddress() unsafe.Pointer

// endMark is the value at the end of the routine.
const endMark = 0x656e696c626d756c

// routineFor returns the routine for a program that maps the page at an address. Its wall clock is ahead of the
// cluster's.
func routineFor(page uint64, ahead time.Duration) []byte {
	mark := binary.LittleEndian.AppendUint64(nil, endMark)
	body := unsafe.Slice((*byte)(routineAddress()), maxRoutine) //nolint:gosec // it is the text of this program
	return append(load(page, uint64(ahead)), body[:bytes.Index(body, mark)]...)
}

// maxRoutine is an upper bound of the routine's size, in bytes.
const maxRoutine = 1024
