package placement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// answersWithin is how long the scheduler may take for all answers. It needs about a second.
const answersWithin = 30 * time.Second

// Scheduler runs a kube-scheduler on the API server of a kubeconfig until ctx ends.
type Scheduler func(ctx context.Context, kubeconfig []byte) error

// Question is what the scheduler is asked.
type Question struct {
	Config *rest.Config      // of the cluster; the scheduler sees all that is in it
	Pods   []*history.Object // the pods that wait; all others that wait are left out
	Nodes  []NewNode         // the nodes that it sees besides the cluster's own
}

// Answer is where a pod would go.
type Answer struct {
	On  *NewNode // nil: on no new node
	Why string   // why not, in the scheduler's words
}

// Ask asks a scheduler where pods would go if there were new nodes, too. Each of them runs a pod
// of every DaemonSet. The cluster stays as it is. It returns an answer for each pod, by
// namespace/name.
func Ask(ctx context.Context, run Scheduler, q Question) (map[string]Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	w, err := newWindow(ctx, q)
	if err != nil {
		return nil, err
	}
	kubeconfig, serve, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	defer serve.Close()
	ended := make(chan error, 1)
	ctx, end := context.WithCancel(ctx)
	go func() { ended <- run(ctx, kubeconfig) }()
	select {
	case <-w.answered:
	case err = <-ended:
	}
	end()
	if left := w.left(); len(left) > 0 {
		return nil, errors.Join(fmt.Errorf("the scheduler decided nothing about %s in %s",
			strings.Join(left, ", "), answersWithin), err)
	}
	return w.answers, nil
}

// open starts the server. Its URL has a path that nobody else knows, since clients send no tokens
// without TLS.
func (w *window) open(ctx context.Context) (kubeconfig []byte, s *http.Server, err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	secret := "/" + rand.String(32)
	s = &http.Server{
		Handler: http.StripPrefix(secret, w), ReadHeaderTimeout: answersWithin,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = s.Serve(l) }()
	config := clientcmdapi.NewConfig()
	const name = "plumbline"
	config.Clusters[name] = &clientcmdapi.Cluster{Server: "http://" + l.Addr().String() + secret}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	config.CurrentContext = name
	kubeconfig, err = clientcmd.Write(*config)
	return kubeconfig, s, err
}

// newWindow takes the pods and nodes of the cluster, and adds the new nodes.
func newWindow(ctx context.Context, q Question) (*window, error) {
	client, err := kubernetes.NewForConfig(q.Config)
	if err != nil {
		return nil, err
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	daemons, err := client.AppsV1().DaemonSets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing DaemonSets: %w", err)
	}
	through, err := rest.HTTPClientFor(q.Config)
	if err != nil {
		return nil, err
	}
	w := &window{
		host: strings.TrimSuffix(q.Config.Host, "/"), through: through,
		nodes: map[string]*NewNode{}, waiting: map[string]corev1.Pod{}, answers: map[string]Answer{},
		answered: make(chan struct{}), lists: map[string][]byte{},
	}
	if err := w.show(q, pods, nodes, daemons.Items); err != nil {
		return nil, err
	}
	if len(w.waiting) == 0 {
		close(w.answered) // they have gone meanwhile
	}
	return w, nil
}

// show makes the lists of pods and nodes that the scheduler sees.
func (w *window) show(q Question, pods *corev1.PodList, nodes *corev1.NodeList, daemons []appsv1.DaemonSet) error {
	asked := map[string]bool{}
	for _, o := range q.Pods {
		asked[o.UID] = true
	}
	pods.Items = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool {
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		return ended || p.Spec.NodeName == "" && !asked[string(p.UID)]
	})
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Spec.NodeName == "" {
			p.Status.Conditions = nil // so that each refusal changes it
			w.waiting[p.Namespace+"/"+p.Name] = *p
		}
	}
	for i := range q.Nodes {
		node := &q.Nodes[i]
		w.nodes[node.Node.Name] = node
		nodes.Items = append(nodes.Items, *node.Node)
		for _, d := range daemons {
			pods.Items = append(pods.Items, daemonOn(d, node.Node.Name))
		}
	}
	pods.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}
	nodes.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}
	var err, err2 error
	w.lists["/api/v1/pods"], err = json.Marshal(pods)
	w.lists["/api/v1/nodes"], err2 = json.Marshal(nodes)
	return errors.Join(err, err2)
}

// daemonOn returns the pod that a DaemonSet would get on a node.
func daemonOn(d appsv1.DaemonSet, node string) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: *d.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = d.Namespace, d.Name+"-"+node
	pod.UID, pod.ResourceVersion = types.UID(pod.Name), "1"
	pod.Spec.NodeName = node
	return pod
}
