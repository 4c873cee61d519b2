// Package simulator holds all that simulated clouds share. A provider's simulator adds only its cloud's protocol and
// its catalogue of types. Instances join a cluster as nodes that KWOK plays, and the nodes leave when they end.
//
// A cloud is a record of an instance, a handler, and a main function:
//
//	// vm is a Machine.
//	type vm struct{ name, size string }
//
//	func (v *vm) Name() string              { return v.name }
//	func (v *vm) ProviderID() string        { return "acme:///" + v.name }
//	func (v *vm) Labels() map[string]string { return map[string]string{"acme.io/size": v.size} }
//	func (v *vm) Copy() (*vm, error)        { return &vm{"leaked-" + v.name, v.size}, nil }
//	func (v *vm) Node() (simulator.Node, error) {
//		kubelet, err := simulator.ParseKubeletFlags("--max-pods=50 --node-labels=acme.io/pool=a")
//		if err != nil {
//			return simulator.Node{Name: v.name}, err
//		}
//		n, err := kubelet.Node(capacity(v.size))
//		n.Name, n.ProviderID = v.name, v.ProviderID()
//		maps.Copy(n.Labels, map[string]string{"kubernetes.io/hostname": v.name, "kubernetes.io/os": "linux"})
//		return n, err
//	}
//
//	func main() {
//		simulator.Main(simulator.Command{About: "A region of Acme's cloud.", Port: 4580, New: newCloud})
//	}
//
//	func newCloud(b *simulator.Base) (simulator.Cloud, error) {
//		c := &cloud{b, simulator.NewFleet[*vm](b)}
//		return simulator.Cloud{Handler: c.handler(), Instances: c.fleet, Launches: []string{"POST /vms"}}, nil
//	}
//
// An [API] answers its calls, counts them, and plays the faults that strike them:
//
//	func (c *cloud) handler() http.Handler {
//		api := &simulator.API{Base: c.base}
//		return api.Routes(map[string]simulator.Call{"POST /vms": c.create, "DELETE /vms/{name}": c.delete})
//	}
//
//	func (c *cloud) delete(r *http.Request) (any, error) {
//		if !c.fleet.Terminate(r.PathValue("name")) {
//			return nil, simulator.Errorf(http.StatusNotFound, "NotFound", "there is no such machine")
//		}
//		return nil, nil
//	}
//
// [Base.Handler] serves the hooks of the harness beside it, below /_sim/, and an adapter with `base: simulator` calls
// them. A request for an unknown one is answered with all that there are. POST /_sim/faults starts a [Fault]: its
// fields are the parameters kind, call, skip, count, by, rate, type, zone, and capacity, which is the capacity type.
// GET /_sim/calls shows the Report of the Journal, GET /_sim/faults the faults. Times, seed and address are flags. The
// log is JSON on stderr, with a line for each call: its time, name, status and error code, and nothing else of it.
// Timelines show it.
package simulator
