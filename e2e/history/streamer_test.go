package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// startStreamer starts this binary again as the server.
func startStreamer(t testing.TB, n, rate int, state string) *rest.Config {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), streamerEvents+"="+strconv.Itoa(n), streamerRate+"="+strconv.Itoa(rate),
		streamerState+"="+state)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe() // it closes with this process, which ends the server
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := in.Close()
		// The test's context is done by now, which has ended the server.
		if waited := cmd.Wait(); waited != nil && t.Context().Err() == nil {
			err = errorsJoin(err, waited)
		}
		if err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(out)
	var url string
	var ca []byte
	for lines.Scan() && lines.Text() != "" {
		if url == "" {
			url = lines.Text()
		} else {
			ca = append(append(ca, lines.Bytes()...), '\n')
		}
	}
	return &rest.Config{Host: url, TLSClientConfig: rest.TLSClientConfig{CAData: ca, ServerName: "example.com"}}
}

// resourceOf returns the resource of event n.
func resourceOf(n int) schema.GroupVersionResource {
	return []schema.GroupVersionResource{pods, nodes}[n%2]
}

// nameOf returns the name of the object of event n. Objects repeat.
func nameOf(n int) string {
	objects, err := strconv.Atoi(os.Getenv(streamerObjects))
	if err != nil {
		objects = 400
	}
	return fmt.Sprintf("object-%d", n%objects)
}

// hasCome reports whether event n is the last one of its object.
func hasCome(w *World, n int) bool {
	o := w.Get(resourceOf(n), "", nameOf(n))
	return o != nil && o.ResourceVersion == strconv.Itoa(n)
}

// stream is the server. Its lists are empty. Its watches send events 1 to n: odd ones of
// nodes, even ones of pods.
func stream() {
	n, _ := strconv.Atoi(os.Getenv(streamerEvents))
	rate, _ := strconv.Atoi(os.Getenv(streamerRate))
	var open atomic.Int32
	both := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resource := resourceIn(r)
		if r.URL.Query().Get("watch") == "" {
			fmt.Fprint(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"0"},"items":[]}`)
			return
		}
		w.(http.Flusher).Flush()
		if open.Add(1) == 2 {
			close(both)
		}
		<-both
		sendAll(r.Context(), w, resource, n, rate)
		<-r.Context().Done()
	}))
	fmt.Fprintln(os.Stdout, server.URL)
	if err := pem.Encode(os.Stdout, &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stdout)
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// sendAll sends a watch's share of the events, each at its time.
func sendAll(ctx context.Context, w http.ResponseWriter, resource string, n, rate int) {
	head, rest := template(resource)
	began := time.Now()
	for i := 1; i <= n; i++ {
		if resourceOf(i).Resource != resource {
			continue
		}
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		pause(ctx, time.Until(due))
		fmt.Fprintf(w, `%s"name":"%s","uid":"%d","resourceVersion":"%d",%s`, head, nameOf(i), time.Now().UnixNano(), i, rest)
		w.(http.Flusher).Flush()
	}
}

// template returns a real object as a line of a watch, in two parts without its identity.
func template(resource string) (head, rest string) {
	raw, err := os.ReadFile("testdata/" + strings.TrimSuffix(resource, "s") + "-" + os.Getenv(streamerState) + ".json")
	if err != nil {
		panic(err)
	}
	o, err := NewObject(raw)
	if err != nil {
		panic(err)
	}
	u := o.raw
	for field, value := range map[string]string{
		"name": o.Name, "namespace": o.Namespace, "uid": o.UID,
		"resourceVersion": o.ResourceVersion,
	} {
		u = bytes.Replace(u, fmt.Appendf(nil, "%q:%q,", field, value), nil, 1)
	}
	before, after, _ := strings.Cut(string(u), `"metadata":{`)
	return `{"type":"MODIFIED","object":` + before + `"metadata":{`, after + "}\n"
}
