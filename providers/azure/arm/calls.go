package arm

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// operations is the type of long-running operations: they are below the resource that they change.
const operations = "/operations"

// call returns what answers a call of that name, or nil.
func (s *Server) call(r *Request) Call {
	if call, known := s.Calls[r.Method+" "+r.ID.Kind]; known {
		return call
	}
	if r.Method == http.MethodGet && strings.HasSuffix(r.ID.Kind, operations+"/*") {
		return s.operation
	}
	kind, one := strings.CutSuffix(r.ID.Kind, "/*")
	switch {
	case !slices.Contains(s.Kinds, kind):
		return nil
	case !one && r.Method == http.MethodGet:
		return s.list
	case !one:
		return nil
	}
	return s.common()[r.Method]
}

// common returns the calls about one resource by method.
func (s *Server) common() map[string]Call {
	return map[string]Call{
		http.MethodPut: s.put, http.MethodGet: s.get, http.MethodPatch: s.patch, http.MethodDelete: s.remove,
	}
}

// Names returns the names of all calls but those that poll long-running operations.
func (s *Server) Names() []string {
	names := slices.Collect(maps.Keys(s.Calls))
	for _, kind := range s.Kinds {
		names = append(names, http.MethodGet+" "+kind)
		for method := range s.common() {
			names = append(names, method+" "+kind+"/*")
		}
	}
	return names
}

func (s *Server) put(r *Request) (Answer, error) {
	var o Object
	if err := r.Decode(&o); err != nil {
		return Answer{}, err
	}
	o, created := s.Store.Put(r.ID, o)
	if created {
		return Answer{Status: http.StatusCreated, Body: o}, nil
	}
	return Answer{Body: o}, nil
}

func (s *Server) get(r *Request) (Answer, error) {
	o, there := s.Store.Get(r.ID)
	if !there {
		return Answer{}, NotFound(r.ID)
	}
	return Answer{Body: o}, nil
}

func (s *Server) list(r *Request) (Answer, error) {
	return List(s.Store.List(r.ID.Kind, r.ID.Path+"/", s.Base.Faults.Stale())), nil
}

func (s *Server) patch(r *Request) (Answer, error) {
	var change Object
	if err := r.Decode(&change); err != nil {
		return Answer{}, err
	}
	o, there := s.Store.Patch(r.ID, change)
	if !there {
		return Answer{}, NotFound(r.ID)
	}
	return Answer{Body: o}, nil
}

func (s *Server) remove(r *Request) (Answer, error) {
	if !s.Store.Delete(r.ID) {
		return Answer{Status: http.StatusNoContent}, nil
	}
	return Answer{}, nil
}

// operation tells how far the creation or deletion of a resource is.
func (s *Server) operation(r *Request) (Answer, error) {
	o, there := s.Store.Get(r.ID.Parent())
	state, status := Properties(o)["provisioningState"], "InProgress"
	why, _ := Properties(o)["status"].(Object)
	switch {
	case r.ID.Name() == "delete":
		if !there {
			status = "Succeeded"
		}
	case !there, state == "Deleting", state == "Failed":
		status = "Failed"
	case state == "Succeeded":
		status = "Succeeded"
	}
	return Answer{Body: Object{"status": status, "error": why["provisioningError"]}}, nil
}
