package faults

import (
	"encoding/json"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// answer answers a request with an error, as the API server does.
func answer(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.ErrStatus
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status) // the client may be gone
}

// lateAnswer is an answer whose sender waits before it sends anything.
type lateAnswer struct {
	http.ResponseWriter
	wait func()
}

// WriteHeader waits first. It is called once, since the API server sends no headers of status 1xx.
func (l lateAnswer) WriteHeader(code int) {
	l.wait()
	l.ResponseWriter.WriteHeader(code)
}

// Unwrap returns the writer that can flush.
func (l lateAnswer) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// dropped is an answer that nobody gets.
type dropped struct{}

func (dropped) Header() http.Header         { return http.Header{} }
func (dropped) Write(b []byte) (int, error) { return len(b), nil }
func (dropped) WriteHeader(int)             {}
