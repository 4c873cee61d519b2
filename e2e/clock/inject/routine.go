//go:build linux && (amd64 || arm64)

package inject

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// address is where this program has the routine that is copied into others.
func address() unsafe.Pointer

// end marks the end of the routine.
const end = 0x656e696c626d756c

// code is the routine for a program that has the page at an address.
func code(page uint64) []byte {
	mark := binary.LittleEndian.AppendUint64(nil, end)
	body := unsafe.Slice((*byte)(address()), room) //nolint:gosec // it is the text of this program
	return append(load(page), body[:bytes.Index(body, mark)]...)
}

// room is more than the routine takes, in bytes.
const room = 1024
