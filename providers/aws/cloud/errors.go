package cloud

import (
	"net/http"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Error is the error of a service: AWS's code, such as InvalidInstanceID.NotFound, a message,
// and the HTTP status of the answer.
type Error = simulator.Error

// refuse returns the error for an invalid request: status 400.
func refuse(code, format string, args ...any) *Error {
	return simulator.Errorf(http.StatusBadRequest, code, format, args...)
}
