package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/providers"
)

// simulatorName is the name of the simulator's pod and of its other objects.
const simulatorName = "plumbline-simulator"

// podAddress is the environment variable with the pod's address in the simulator's container.
const podAddress = "POD_IP"

// simulatorTimeout bounds the time in which a simulator becomes ready.
const simulatorTimeout = 30 * time.Second

// simulator is a running simulator.
type simulator struct {
	clients *clients
	pod     *corev1.Pod
	port    int
	address string // host:port, as the controller reaches it
}

// ask sends a request to the simulator. Path begins with a slash.
func (s *simulator) ask(ctx context.Context, method, path, body string) ([]byte, error) {
	if s == nil {
		return nil, errors.New("there is no simulator")
	}
	return s.clients.ask(ctx, s.pod, s.port, method, path, body)
}

// simulate starts the adapter's simulator, if any, and sets its address in the values.
func (p *Prepared) simulate(ctx context.Context, c cluster.Cluster, k *clients, v *providers.Values, image string,
	say func(string),
) (*simulator, error) {
	a := p.adapter
	if a.Simulator == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	say(fmt.Sprintf("starting the simulator of %s's cloud", a.Name))
	port, err := c.Port(a.Simulator.Port)
	if err != nil {
		return nil, fmt.Errorf("a port for the simulator: %w", err)
	}
	ca, err := authorityOf(a.Simulator)
	if err != nil {
		return nil, err
	}
	if ca != nil {
		*v = v.WithCA(string(ca.cert))
	}
	straight, err := pastProxy(c)
	if err != nil {
		return nil, err
	}
	objects, err := p.simulatorObjects(*v, image, port, ca, straight...)
	if err != nil {
		return nil, err
	}
	sim, err := p.serve(ctx, "simulator", objects, port, Installed{
		Namespace: v.Namespace, cluster: c, clients: k, selector: labels.Set(simulatorLabels()).String(),
		container: simulatorContainer(a.Simulator, image, nil, port), serviceAccount: simulatorName,
	})
	if err != nil {
		return nil, err
	}
	sim.address = net.JoinHostPort(sim.pod.Status.PodIP, strconv.Itoa(port))
	v.Simulator = sim.address
	return sim, nil
}

// serve applies a server of the harness's, and waits until its pod is ready.
func (p *Prepared) serve(ctx context.Context, what string, objects []*unstructured.Unstructured, port int, i Installed,
) (*simulator, error) {
	if err := i.clients.applyAll(ctx, objects, i.Namespace); err != nil {
		return nil, err
	}
	i.adapter = p.adapter
	s := &start{Installed: &i, what: what, timeout: simulatorTimeout, setting: "simulator"}
	if err := s.await(ctx); err != nil {
		return nil, err
	}
	return &simulator{clients: i.clients, pod: s.pod.Load(), port: port}, nil
}

// pastProxy returns the variables by which a pod reaches the API server itself, where pods are led to a proxy: only the
// controller's requests are to fail.
func pastProxy(c cluster.Cluster) ([]corev1.EnvVar, error) {
	if _, is := c.(cluster.Interposed); !is {
		return nil, nil
	}
	target, _, err := rest.DefaultServerUrlFor(c.Config())
	if err != nil {
		return nil, fmt.Errorf("the API server's address: %w", err)
	}
	return []corev1.EnvVar{
		{Name: serviceHost, Value: target.Hostname()}, {Name: servicePort, Value: target.Port()},
	}, nil
}

func simulatorLabels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": simulatorName}
}

func simulatorContainer(s *providers.Simulator, image string, args []string, port int) corev1.Container {
	return corev1.Container{
		Name: "simulator", Image: image, ImagePullPolicy: corev1.PullIfNotPresent, Args: args,
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: int32(port)}}, //nolint:gosec // it is a port
		Env: []corev1.EnvVar{{
			Name: podAddress, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}},
		}},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: s.Ready, Port: intstr.FromInt(port)}},
			PeriodSeconds: 1,
		},
	}
}

// simulatorObjects returns the simulator's pod and what it needs. The pod is never restarted:
// a restart would silently lose the state of its cloud. The CA is nil unless it serves TLS. Its environment has some
// variables more.
func (p *Prepared) simulatorObjects(v providers.Values, image string, port int, ca *authority,
	more ...corev1.EnvVar,
) ([]*unstructured.Unstructured, error) {
	s := p.adapter.Simulator
	v.Simulator = fmt.Sprintf("$(%s):%d", podAddress, port)
	args := make([]string, len(s.Args))
	for n, arg := range s.Args {
		text, err := providers.Expand(arg, v)
		if err != nil {
			return nil, fmt.Errorf("simulator.args[%d]: %w", n, err)
		}
		args[n] = text
	}
	rules, err := s.Rules()
	if err != nil {
		return nil, err
	}
	meta := metav1.ObjectMeta{Name: simulatorName, Namespace: v.Namespace, Labels: simulatorLabels()}
	cluster.Own(&meta)
	global := meta
	global.Namespace = ""
	container := simulatorContainer(s, image, args, port)
	container.Env = append(container.Env, more...)
	pod := serverPod(meta, simulatorName, container)
	typed := []runtime.Object{
		&corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta},
		&rbacv1.ClusterRole{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
			ObjectMeta: global, Rules: rules,
		},
		&rbacv1.ClusterRoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
			ObjectMeta: global,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: simulatorName},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: simulatorName, Namespace: v.Namespace}},
		},
		pod,
	}
	if ca != nil {
		typed = append([]runtime.Object{ca.give(pod, meta, caName)}, typed...)
	}
	if v.ManagementFile != "" {
		typed = append([]runtime.Object{giveManagement(pod, meta, v)}, typed...)
	}
	return asAllUnstructured(typed...)
}

// serverPod returns the pod of a server of the harness's. It is never restarted.
func serverPod(meta metav1.ObjectMeta, serviceAccount string, container corev1.Container) *corev1.Pod {
	return &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: meta, Spec: corev1.PodSpec{
		ServiceAccountName: serviceAccount, RestartPolicy: corev1.RestartPolicyNever,
		Tolerations: []corev1.Toleration{{Key: cluster.SystemTaint, Operator: corev1.TolerationOpExists}},
		Containers:  []corev1.Container{container},
	}}
}

// asAllUnstructured converts objects to apply.
func asAllUnstructured(typed ...runtime.Object) (objects []*unstructured.Unstructured, err error) {
	for _, o := range typed {
		fields, err := asUnstructured(o)
		if err != nil {
			return nil, err
		}
		objects = append(objects, fields)
	}
	return objects, nil
}

// Unknown returns the calls that the simulator doesn't know, such as those that a new release
// of the provider makes. It returns none if no simulator reports them.
func (i *Installed) Unknown(ctx context.Context) (calls []string, err error) {
	if i.simulator == nil || i.adapter.Simulator.Unknown == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	answer, err := i.simulator.ask(ctx, http.MethodGet, i.adapter.Simulator.Unknown, "")
	if err != nil {
		return nil, err
	}
	return calls, json.Unmarshal(answer, &calls)
}

// Calls returns how many calls of each kind may have changed the simulated cloud so far. It returns none if no
// simulator counts them.
func (i *Installed) Calls(ctx context.Context) (map[string]int, error) {
	if i.simulator == nil || i.adapter.Simulator.Calls == "" {
		return nil, nil //nolint:nilnil // there are none
	}
	answer, err := i.simulator.ask(ctx, http.MethodGet, i.adapter.Simulator.Calls, "")
	if err != nil {
		return nil, err
	}
	var counts struct {
		Writes map[string]int `json:"writes"`
	}
	return counts.Writes, json.Unmarshal(answer, &counts)
}

// Faults asks the simulator about its faults. The error is ErrNoFaults if calls can't fail.
func (i *Installed) Faults(ctx context.Context, method string, query url.Values) ([]byte, error) {
	if i.simulator == nil || i.adapter.Simulator.Faults == "" {
		return nil, ErrNoFaults
	}
	return i.simulator.ask(ctx, method, i.adapter.Simulator.Faults+"?"+query.Encode(), "")
}

// ErrNoFaults says that a provider's calls to its cloud can't fail on purpose.
var ErrNoFaults = errors.New("the adapter has no simulator whose calls can fail (simulator.faults)")

// SimulatorComponent is the simulator's name in messages.
const SimulatorComponent = "the simulator of the provider's cloud"

// Components lists the simulator and the proxy to the API server, if there are any.
func (i *Installed) Components() (all []cluster.Component) {
	if p := i.interposer; p != nil {
		all = append(all, i.component(interposerComponent, p.server, faults.Ready))
	}
	if s := i.simulator; s != nil {
		all = append(all, i.component(SimulatorComponent, s, i.adapter.Simulator.Ready))
	}
	return all
}

// component returns a server of the harness's in a pod as what a session depends on.
func (i *Installed) component(name string, s *simulator, ready string) cluster.Component {
	return cluster.Component{
		Name: name,
		Ask: func(ctx context.Context) error {
			_, err := s.ask(ctx, http.MethodGet, ready, "")
			return err
		},
		Log: func(ctx context.Context) []string { return i.lastWordsOf(ctx, s.pod) },
	}
}

// lastWordsOf returns the end of a pod's log.
func (i *Installed) lastWordsOf(ctx context.Context, pod *corev1.Pod) []string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return cluster.LastWords(podLog(ctx, i.cluster, pod.Namespace, pod.Name), tailLines)
}

// SimulatorEnded waits until the simulator has ended and returns the end of its log. It
// returns nil if ctx ends first, or if there is no simulator.
func (i *Installed) SimulatorEnded(ctx context.Context) (lastWords []string) {
	s := i.simulator
	if s == nil {
		return nil
	}
	pods := cache.NewListWatchFromClient(s.clients.typed.CoreV1().RESTClient(), "pods", s.pod.Namespace,
		fields.OneTermEqualSelector("metadata.name", s.pod.Name))
	_, err := watchtools.UntilWithSync(ctx, pods, &corev1.Pod{}, nil, func(e watch.Event) (bool, error) {
		pod, is := e.Object.(*corev1.Pod)
		return is && (e.Type == watch.Deleted || pod.Status.Phase == corev1.PodFailed ||
			pod.Status.Phase == corev1.PodSucceeded), nil
	})
	if err != nil {
		return nil
	}
	return append(i.lastWordsOf(ctx, i.simulator.pod), "it ended")
}
