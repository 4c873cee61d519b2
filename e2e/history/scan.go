package history

import (
	"bytes"
	"errors"
	"fmt"
)

// Most objects are never looked into by anybody, so the recorder wants four
// strings of each and no more. encoding/json would take longer over the
// managedFields on the way to them than everything else takes together; hence
// this scanner, which steps over values by their brackets and quotes. It trusts
// that JSON is well-formed: the API server's is, and Load checks.

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

// usualFrame takes apart a line as API servers write it, with the object last
// and no blanks (metav1.WatchEvent): the object reaches to the line's last
// brace, and need not be stepped over to find its end.
func usualFrame(line []byte) (frame, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	kind, object, found := bytes.Cut(rest, []byte(`","object":`))
	object, closed := bytes.CutSuffix(bytes.TrimRight(object, "\r\n"), []byte("}"))
	if !ok || !found || !closed || bytes.ContainsAny(kind, `"\`) || !bytes.HasPrefix(object, []byte("{")) || !bytes.HasSuffix(object, []byte("}")) {
		return frame{}, false
	}
	return frame{Type: string(kind), Object: object}, true
}

// scanMeta finds the identity of an object and stops as soon as it is known.
// Of a kind without namespaces none is looked for.
func scanMeta(object []byte, cluster bool) (meta, error) {
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
