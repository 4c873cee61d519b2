package cloud

import (
	"fmt"
	"net/http"
)

// Error is what a service answers instead of a result: its code as AWS documents it, such
// as InvalidInstanceID.NotFound, and the HTTP status that it comes with.
type Error struct {
	Code    string
	Message string
	Status  int
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// refuse is the error of a request that could not be right: status 400.
func refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Status: http.StatusBadRequest}
}
