package arm

import (
	"net/http"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Error is an error as ARM answers it.
type Error = simulator.Error

// Errorf returns an error with a message.
func Errorf(status int, code, format string, args ...any) *Error {
	return simulator.Errorf(status, code, format, args...)
}

// NotFound returns the error about a resource that doesn't exist.
func NotFound(id ID) *Error {
	return Errorf(http.StatusNotFound, "ResourceNotFound", "The Resource '%s' under resource group '%s' was not found.",
		id.Path, id.Group)
}
