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
//		return n, err
//	}
//
//	func main() {
//		simulator.Main(simulator.Command{About: "A region of Acme's cloud.", Port: 4580, New: newCloud})
//	}
//
//	func newCloud(b *simulator.Base) (simulator.Cloud, error) {
//		fleet := simulator.NewFleet[*vm](b)
//		return simulator.Cloud{Handler: &api{b, fleet}, Instances: fleet}, nil
//	}
//
// The handler names each call, counts it, and plays the faults that strike it:
//
//	func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
//		name := r.Method + " " + pattern(r.URL.Path)
//		a.base.Journal.CountCall(name)
//		a.base.Faults.Call(name).Play(w, r, a.refuse, a.answer)
//	}
//
// [Base.Handler] serves the hooks of the harness beside it, below /_sim/. Times, seed and address are flags.
package simulator
