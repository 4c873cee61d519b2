// Package faulty holds lies about AWS's provider. A lie stands between the released provider and the simulated region,
// and changes what passes between them, so that the provider calls as if it had a bug. Nothing of the provider is
// built anew. See providers/faulty/README.md.
package faulty

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Tell returns the region as a provider with that lie calls it. Without a name the provider is honest.
func Tell(name string, region http.Handler) (http.Handler, error) {
	if name == "" {
		return region, nil
	}
	tell, known := lies()[name]
	if !known {
		return nil, fmt.Errorf("there is no lie %q; there are %s", name, strings.Join(names(), ", "))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the provider has gone
		}
		tell(newCall(region, r, body)).send(w)
	}), nil
}

// names returns the sorted names of all lies.
func names() []string { return slices.Sorted(maps.Keys(lies())) }

// call is a call of the provider's on its way.
type call struct {
	region http.Handler
	http   *http.Request
	body   []byte
	form   url.Values // the parameters of a call to EC2
	action string     // such as CreateFleet
}

func newCall(region http.Handler, r *http.Request, body []byte) *call {
	c := &call{region: region, http: r, body: body}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		c.action = target[strings.LastIndex(target, ".")+1:]
	} else if form, err := url.ParseQuery(string(body)); err == nil {
		c.form, c.action = form, form.Get("Action")
	}
	return c
}

// pass makes the call as it is.
func (c *call) pass() *answer { return c.ask(c.http, c.body) }

// with makes the call with other parameters.
func (c *call) with(form url.Values) *answer {
	return c.ask(c.http.WithContext(context.WithoutCancel(c.http.Context())), []byte(form.Encode()))
}

// gaveUp reports whether the provider waits no longer for an answer.
func (c *call) gaveUp() bool { return c.http.Context().Err() != nil }

// again launches once more, by calls that have nothing to do with the first one, until one succeeds.
func (c *call) again() (a *answer) {
	const most = 100 // calls
	form := maps.Clone(c.form)
	form.Del("ClientToken")
	for range most {
		if a = c.with(form); !a.lost && a.Status == http.StatusOK {
			return a
		}
	}
	return a
}

// ec2 makes another call, to EC2.
func (c *call) ec2(action string, form url.Values) *answer {
	form.Set("Action", action)
	r := c.http.Clone(context.WithoutCancel(c.http.Context()))
	r.Header = http.Header{"Authorization": {"Credential=lie/20260101/us-east-1/ec2/aws4_request"}}
	return c.ask(r, []byte(form.Encode()))
}

// ask makes a call with a body.
func (c *call) ask(r *http.Request, body []byte) (a *answer) {
	a = &answer{Answer: simulator.Answer{Status: http.StatusOK}}
	defer func() {
		p := recover()
		if a.lost = p == http.ErrAbortHandler; p != nil && !a.lost { //nolint:errorlint // as net/http compares it
			panic(p)
		}
	}()
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.region.ServeHTTP(a, r)
	return a
}

// answer is what the region answers.
type answer struct {
	simulator.Answer
	lost bool // there is none
}

// send gives the provider the answer, or none.
func (a *answer) send(w http.ResponseWriter) {
	if a.lost {
		panic(http.ErrAbortHandler)
	}
	a.Send(w)
}

// slow is how long an answer takes that is a late one.
const slow = 2 * time.Second
