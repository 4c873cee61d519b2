package simulator

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// Effect is the effect of all faults on a call.
type Effect struct {
	Refused Kind          // Throttle, Denied, Failed or FailedYetDone: an error is answered in place of a result
	Delay   time.Duration // before the answer
	Later   time.Duration // with FailedYetDone: until the call is carried out
	Lost    bool          // the call is carried out, but there is no answer
	Silent  bool          // there is no answer until the client gives up, and the call is not carried out
	Held    bool          // the call is carried out, but there is no answer until the client gives up

	done func() // with Held: called once the call is carried out
}

// Play answers a call with its effect. do carries out the call and answers it, refuse answers the cloud's error for a
// kind of refusal.
func (e Effect) Play(w http.ResponseWriter, r *http.Request, refuse func(http.ResponseWriter, Kind),
	do http.HandlerFunc,
) {
	// waits ends when the client gives up. net/http then closes the connection without an answer.
	waits := func() {
		_, _ = io.Copy(io.Discard, r.Body) // or else net/http does not notice that the client gives up
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	if e.Silent {
		waits()
	}
	a := &Answer{}
	if e.Refused == "" {
		do(a, r)
	} else {
		e.postpone(r, do)
		refuse(a, e.Refused)
	}
	if e.Held {
		e.done()
		waits()
	}
	waitOr(r.Context(), e.Delay, nil)
	if e.Lost {
		panic(http.ErrAbortHandler)
	}
	a.Send(w)
}

// postpone carries out later what was answered as failed.
func (e Effect) postpone(r *http.Request, do http.HandlerFunc) {
	if e.Refused != FailedYetDone {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	r = r.Clone(context.WithoutCancel(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	time.AfterFunc(e.Later, func() { do(&Answer{}, r) })
}
