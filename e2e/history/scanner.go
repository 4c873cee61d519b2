package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

var errTruncated = errors.New("JSON ends in the middle of a value")

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
