package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Most objects are never looked into by anybody, so the recorder wants four
// strings of each and no more. encoding/json would take longer over the
// managedFields on the way to them than everything else takes together; hence
// this scanner, which steps over values by their brackets and quotes. It trusts
// that JSON is well-formed: the API server's is, and Load checks.

var errTruncated = errors.New("JSON ends in the middle of a value")

// meta is what the recorder must know of every object.
type meta struct {
	Namespace, Name, UID, ResourceVersion string
}

// frame is one line of a watch.
type frame struct {
	Type   string
	Object []byte
}

// scanFrame takes a line of a watch apart. The object shares the line's bytes.
func scanFrame(line []byte) (frame, error) {
	var f frame
	s := scanner{b: line}
	err := s.members(func(key string) (bool, error) {
		var err error
		switch key {
		case "type":
			f.Type, err = s.text()
		case "object":
			f.Object, err = s.value()
		default:
			_, err = s.value()
		}
		return false, err
	})
	if err != nil {
		return frame{}, fmt.Errorf("not a watch event: %w", err)
	}
	if f.Type == "" || len(f.Object) == 0 {
		return frame{}, errors.New("not a watch event: type or object is missing")
	}
	return f, nil
}

// scanMeta finds the identity of an object and stops as soon as it is known.
func scanMeta(object []byte) (meta, error) {
	var m meta
	s := scanner{b: object}
	err := s.within("metadata", func(key string) (bool, error) {
		field := m.field(key)
		if field == nil {
			_, err := s.value()
			return false, err
		}
		var err error
		*field, err = s.text()
		return m.complete(), err
	})
	if err != nil {
		return meta{}, fmt.Errorf("not an API object: %w", err)
	}
	return m, nil
}

func (m *meta) field(key string) *string {
	switch key {
	case "namespace":
		return &m.Namespace
	case "name":
		return &m.Name
	case "uid":
		return &m.UID
	case "resourceVersion":
		return &m.ResourceVersion
	default:
		return nil
	}
}

func (m *meta) complete() bool {
	return m.Namespace != "" && m.Name != "" && m.UID != "" && m.ResourceVersion != ""
}

// withoutManagedFields is the object with an empty metadata.managedFields; the
// given bytes if it has none.
func withoutManagedFields(object []byte) []byte {
	var fields []byte
	var end int
	s := scanner{b: object}
	err := s.within("metadata", func(key string) (bool, error) {
		value, err := s.value()
		if key == "managedFields" {
			fields, end = value, s.at
		}
		return key == "managedFields", err
	})
	if err != nil || fields == nil {
		return object
	}
	short := make([]byte, 0, len(object)-len(fields)+len("null"))
	short = append(short, object[:end-len(fields)]...)
	short = append(short, "null"...)
	return append(short, object[end:]...)
}

// scanner steps through JSON without decoding it.
type scanner struct {
	b  []byte
	at int
}

// within visits the members of the object's member called name.
func (s *scanner) within(name string, visit func(key string) (stop bool, err error)) error {
	return s.members(func(key string) (bool, error) {
		if key != name {
			_, err := s.value()
			return false, err
		}
		return true, s.members(visit)
	})
}

// members calls visit for each member of the object that begins here. visit
// consumes the value, and ends the walk by answering stop.
func (s *scanner) members(visit func(key string) (stop bool, err error)) error {
	if c := s.next(); c != '{' {
		return s.unexpected("an object")
	}
	s.at++
	for {
		switch s.next() {
		case '}':
			s.at++
			return nil
		case ',':
			s.at++
		case '"':
			key, err := s.text()
			if err != nil {
				return err
			}
			if s.next() != ':' {
				return s.unexpected("a colon")
			}
			s.at++
			if stop, err := visit(key); stop || err != nil {
				return err
			}
		default:
			return s.unexpected("a member or the end of the object")
		}
	}
}

// next is the next byte that is no white space, 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// value steps over the value that begins here, and is its bytes.
func (s *scanner) value() ([]byte, error) {
	first := s.next()
	start, depth := s.at, 0
	for s.at < len(s.b) {
		switch c := s.b[s.at]; c {
		case '"':
			if err := s.skipString(); err != nil {
				return nil, err
			}
			if depth == 0 {
				return s.b[start:s.at], nil
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth <= 0 && (first == '{' || first == '[') {
				s.at++
				return s.b[start:s.at], nil
			}
			if depth < 0 { // the end of what a number, true, false or null is in
				return s.scalar(start)
			}
		case ',':
			if depth == 0 {
				return s.scalar(start)
			}
		}
		s.at++
	}
	return nil, errTruncated
}

func (s *scanner) scalar(start int) ([]byte, error) {
	v := bytes.TrimRight(s.b[start:s.at], " \t\r\n")
	if len(v) == 0 {
		return nil, s.unexpected("a value")
	}
	return v, nil
}

// text is the string that begins here; empty for null.
func (s *scanner) text() (string, error) {
	v, err := s.value()
	if err != nil || string(v) == "null" {
		return "", err
	}
	if v[0] == '"' && bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1]), nil
	}
	var text string
	if err := json.Unmarshal(v, &text); err != nil {
		return "", fmt.Errorf("at byte %d: %w", s.at, err)
	}
	return text, nil
}

// skipString steps over the string that begins here.
func (s *scanner) skipString() error {
	s.at++
	for {
		quote := bytes.IndexByte(s.b[s.at:], '"')
		if quote < 0 {
			s.at = len(s.b)
			return errTruncated
		}
		end := s.at + quote
		escapes := 0
		for end-1-escapes >= s.at && s.b[end-1-escapes] == '\\' {
			escapes++
		}
		s.at = end + 1
		if escapes%2 == 0 {
			return nil
		}
	}
}

func (s *scanner) unexpected(wanted string) error {
	if s.at >= len(s.b) {
		return errTruncated
	}
	return fmt.Errorf("at byte %d: found %q, wanted %s", s.at, s.b[s.at], wanted)
}
