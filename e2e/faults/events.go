package faults

import (
	"context"
	"io"
	"mime"
	"net/http"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// stream is an open watch.
type stream struct {
	request Request
	info    runtime.SerializerInfo // of its encoding
	body    io.Closer              // from the API server
	ctx     context.Context        //nolint:containedctx // it is the request's

	mu  sync.Mutex // held while a frame is written
	out *io.PipeWriter
}

// follow puts itself between the events of a watch and their reader. It leaves other answers alone, and events in an
// encoding that apimachinery doesn't know.
func (p *Proxy) follow(r *http.Response) error {
	request, _ := r.Request.Context().Value(requestKey{}).(Request)
	if request.Verb != "watch" || r.StatusCode != http.StatusOK {
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return nil //nolint:nilerr // it is passed on as it is
	}
	info, known := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !known || info.StreamSerializer == nil {
		return nil
	}
	in, out := io.Pipe()
	s := &stream{request: request, info: info, body: r.Body, out: out, ctx: r.Request.Context()}
	body := r.Body
	r.Body = in
	p.mu.Lock()
	p.streams = append(p.streams, s)
	p.mu.Unlock()
	go p.pump(s, body)
	return nil
}

// pump passes on events until the watch ends on either side. Its reader then sees a watch that ended, as after any
// loss of the connection: a broken stream of HTTP/2 would be another error.
func (p *Proxy) pump(s *stream, body io.ReadCloser) {
	defer func() {
		_ = s.out.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.streams = slices.DeleteFunc(p.streams, func(other *stream) bool { return other == s })
	}()
	frames := &frameReader{}
	decoder := streaming.NewDecoder(s.info.StreamSerializer.NewFrameReader(body), frames)
	defer decoder.Close() //nolint:errcheck // the connection ends anyway
	for {
		if _, _, err := decoder.Decode(nil, nil); err != nil {
			return
		}
		if !p.passGate(s.ctx) || p.holdsBack(s, frames.last) {
			return
		}
		if p.leavesOut(s, frames.last) {
			continue
		}
		if err := s.write(frames.last); err != nil {
			return
		}
	}
}

// frameReader is a decoder that keeps what it should decode, until it gets the next.
type frameReader struct{ last []byte }

// Decode keeps the frame.
func (f *frameReader) Decode(frame []byte, _ *schema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	f.last = frame
	return into, nil, nil
}

// write passes a frame on.
func (s *stream) write(frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.info.MediaType == runtime.ContentTypeJSON { // its frames end with the line, which the framer leaves out
		frame = append(frame, '\n')
	}
	_, err := s.info.StreamSerializer.NewFrameWriter(s.out).Write(frame)
	return err
}

// end ends a watch, with the error 410 Gone if it has expired.
func (s *stream) end(expired bool) {
	if expired {
		if gone, err := s.gone(); err == nil {
			_ = s.write(gone) // the client may be gone
		}
	}
	_ = s.out.Close()
	_ = s.body.Close()
}

// gone returns the event that ends a watch whose resource version is too old, in the watch's encoding.
func (s *stream) gone() ([]byte, error) {
	status := apierrors.NewResourceExpired("the fault says: too old resource version").ErrStatus
	object, err := runtime.Encode(scheme.Codecs.EncoderForVersion(s.info.Serializer, metav1.Unversioned), &status)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(s.info.StreamSerializer.Serializer, &metav1.WatchEvent{
		Type: string(watch.Error), Object: runtime.RawExtension{Raw: object},
	})
}

// holdsBack waits while events of the watch are held back. It reports whether the watch ended meanwhile.
func (p *Proxy) holdsBack(s *stream, frame []byte) (ended bool) {
	for _, a := range p.ofEvents(holdEvents, s) {
		if s.decode(frame).Type == string(watch.Bookmark) {
			continue // it says nothing of an object
		}
		if !a.due(nil) {
			continue
		}
		a.hits(p.life, s.request)
		select {
		case <-a.over:
		case <-s.ctx.Done():
			return true
		}
	}
	return false
}

// leavesOut reports whether an event of the watch must not be passed on.
func (p *Proxy) leavesOut(s *stream, frame []byte) bool {
	for _, a := range p.ofEvents(skipEvent, s) {
		event := s.decode(frame)
		name := nameOf(event)
		if name == "" || a.on.name != "" && a.on.name != name || !a.due(s) {
			continue
		}
		struck := s.request
		struck.Name = name
		a.hits(p.life, struck)
		return true
	}
	return false
}

// ofEvents returns the active faults of a kind that concern a watch.
func (p *Proxy) ofEvents(k kind, s *stream) []*Active {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*Active
	for _, a := range p.active {
		if a.kind == k && a.on.concerns(s.request) {
			all = append(all, a)
		}
	}
	return all
}

// decode returns an event whose object is still encoded.
func (s *stream) decode(frame []byte) (event metav1.WatchEvent) {
	_, _, _ = s.info.StreamSerializer.Serializer.Decode(frame, nil, &event) // it is passed on then
	return event
}

// nameOf returns the name of the object that an event is about, or "" for a bookmark or an error.
func nameOf(event metav1.WatchEvent) string {
	switch watch.EventType(event.Type) {
	case watch.Added, watch.Modified, watch.Deleted:
	default:
		return ""
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(event.Object.Raw, nil, nil)
	if err != nil { // a custom resource, always in JSON
		object, _, err = unstructured.UnstructuredJSONScheme.Decode(event.Object.Raw, nil, nil)
	}
	if err != nil {
		return ""
	}
	about, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return about.GetName()
}
