package arm

import (
	"fmt"
	"net/http"
)

// Error is an error as ARM answers it.
type Error struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Errorf returns an error with a message.
func Errorf(status int, code, format string, args ...any) *Error {
	return &Error{status, code, fmt.Sprintf(format, args...)}
}

// NotFound returns the error about a resource that doesn't exist.
func NotFound(id ID) *Error {
	return Errorf(http.StatusNotFound, "ResourceNotFound", "The Resource '%s' under resource group '%s' was not found.",
		id.Path, id.Group)
}
