// Package faults makes the requests of a provider's controller fail on purpose: those to the API server, and its calls
// to a simulated cloud.
//
// A [Proxy] stands between the controller and the API server, in the harness's process or in a pod ([Remote]). A
// cloud's simulator plays faults itself ([Cloud], [OnCall]). All other clients, the recorder among them, go straight to
// the API server, so that a recording shows what really happened. A [Fault] says which requests are struck, and how:
//
//	faults.CrashAfter(faults.On("create", karpenter.NodeClaims))
//	faults.LoseAnswer(faults.On("patch", karpenter.NodeClaims).Status().Nth(2))
//	faults.Refuse(faults.Writes(karpenter.Nodes), apierrors.NewTooManyRequests("slow down", 1)).Times(3)
//	faults.HoldEvents(karpenter.Nodes, time.Minute)
//
// A controller is level-triggered: whatever it missed, and whenever it died, it must end where it would have ended
// without the fault. Kubernetes promises its clients no more than that: a write may be done although its answer is
// lost, events may come late, and a watch may end at any time
// (https://kubernetes.io/docs/reference/using-api/api-concepts).
//
// The proxy has no rights of its own: requests keep the credentials of their sender. It passes on HTTP/1.1 and
// HTTP/2, and leaves the contents as they are. Events are told apart by apimachinery's own framers.
package faults
