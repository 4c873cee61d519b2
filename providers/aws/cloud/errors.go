package cloud

import (
	"fmt"
	"net/http"
)

// Error is the error of a service: AWS's code, such as InvalidInstanceID.NotFound, a message,
// and the HTTP status of the answer.
type Error struct {
	Code    string
	Message string
	Status  int
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// refuse returns the error for an invalid request: status 400.
func refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Status: http.StatusBadRequest}
}
