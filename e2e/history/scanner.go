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

// membersOf visits the members of the object that is the value of name.
func (s *scanner) membersOf(name string, visit func(key string) (stop bool, err error)) error {
	return s.members(func(key string) (bool, error) {
		if key != name {
			_, err := s.value()
			return false, err
		}
		return true, s.members(visit)
	})
}

// members calls visit for each member of the object that starts here. visit must consume the
// value. If it returns stop, members returns before the end of the object.
func (s *scanner) members(visit func(key string) (stop bool, err error)) error {
	if c := s.next(); c != '{' {
		return s.errUnexpected("an object")
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
				return s.errUnexpected("a colon")
			}
			s.at++
			if stop, err := visit(key); stop || err != nil {
				return err
			}
		default:
			return s.errUnexpected("a member or the end of the object")
		}
	}
}

// next returns the next byte other than white space, or 0 at the end.
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

// value steps over the value that starts here and returns its bytes.
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
			if depth < 0 { // the end of the object or array around a number, true, false or null
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
		return nil, s.errUnexpected("a value")
	}
	return v, nil
}

// text returns the string that starts here; empty for null.
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

func (s *scanner) errUnexpected(wanted string) error {
	if s.at >= len(s.b) {
		return errTruncated
	}
	return fmt.Errorf("at byte %d: found %q, wanted %s", s.at, s.b[s.at], wanted)
}
