package history

import (
	"bytes"
	"errors"
	"fmt"
)

// The recorder needs four strings of each object, and most objects are never decoded.
// encoding/json would spend more time on managedFields than the recorder on everything else.
// So this scanner skips values by their brackets and quotes. It requires well-formed JSON: the
// API server sends it, and Load checks it.

type meta struct {
	Namespace, Name, UID, ResourceVersion string
}

type frame struct {
	Type   string
	Object []byte
}

// scanFrame splits a line of a watch. The object shares the line's bytes.
func scanFrame(line []byte) (frame, error) {
	if f, ok := usualFrame(line); ok {
		return f, nil
	}
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

// usualFrame splits a line that has the object last and no blanks, as API servers write it
// (metav1.WatchEvent). The object ends at the line's last brace, so it is not scanned.
func usualFrame(line []byte) (frame, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	kind, object, found := bytes.Cut(rest, []byte(`","object":`))
	object, closed := bytes.CutSuffix(bytes.TrimRight(object, "\r\n"), []byte("}"))
	if !ok || !found || !closed || bytes.ContainsAny(kind, `"\`) || !bytes.HasPrefix(object, []byte("{")) ||
		!bytes.HasSuffix(object, []byte("}")) {
		return frame{}, false
	}
	return frame{Type: string(kind), Object: object}, true
}

// scanMeta finds the identity of an object and stops once it is complete. If cluster is true,
// it doesn't look for a namespace.
func scanMeta(object []byte, cluster bool) (meta, error) {
	var m meta
	s := scanner{b: object}
	err := s.membersOf("metadata", func(key string) (bool, error) {
		field := m.field(key)
		if field == nil {
			_, err := s.value()
			return false, err
		}
		var err error
		*field, err = s.text()
		return m.complete(cluster), err
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

func (m *meta) complete(cluster bool) bool {
	return (cluster || m.Namespace != "") && m.Name != "" && m.UID != "" && m.ResourceVersion != ""
}

// withoutManagedFields returns the object with null for metadata.managedFields, or the same
// bytes if it has none.
func withoutManagedFields(object []byte) []byte {
	var fields []byte
	var end int
	s := scanner{b: object}
	err := s.membersOf("metadata", func(key string) (bool, error) {
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
