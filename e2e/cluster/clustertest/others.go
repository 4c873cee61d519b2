package clustertest

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Registry returns a prefix in an empty registry on loopback, which ends with the test.
func Registry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/team"
}

// Settled waits until Kubernetes has completed its own setup of a new cluster.
func Settled(t *testing.T, config *rest.Config) {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(config)
	NewWithT(t).Eventually(func(g Gomega) {
		nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(nodes.Items).NotTo(BeEmpty())
		for _, node := range nodes.Items {
			g.Expect(node.Spec.Taints).NotTo(ContainElement(HaveField("Key", corev1.TaintNodeNotReady)))
			g.Expect(node.Labels).To(HaveKey("beta.kubernetes.io/os"))
		}
		_, err = client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(t.Context(), "default", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		deployments, err := client.AppsV1().Deployments(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for _, d := range deployments.Items {
			g.Expect(d.Status.Conditions).
				To(ContainElement(And(HaveField("Type", appsv1.DeploymentProgressing),
					HaveField("Reason", "NewReplicaSetAvailable"))))
		}
		pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for _, pod := range pods.Items {
			g.Expect(pod.Status.Conditions).
				To(ContainElement(And(HaveField("Type", corev1.PodReady), HaveField("Status", corev1.ConditionTrue))))
		}
	}, "120s", "100ms").Should(Succeed())
}

// Everything returns a cluster's objects in JSON by kind and name. It leaves out what changes
// by itself: versions, leases, events, and what kubelets report.
func Everything(t *testing.T, config *rest.Config) map[string]string {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	config = rest.CopyConfig(config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	served, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	g.Expect(err).NotTo(HaveOccurred())
	client := dynamic.NewForConfigOrDie(config)
	all := map[string]string{}
	for _, list := range served {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		g.Expect(err).NotTo(HaveOccurred())
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") || slices.Contains([]string{"events", "leases", "componentstatuses"}, r.Name) {
				continue
			}
			found, err := client.Resource(group.WithResource(r.Name)).List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			for _, o := range found.Items {
				o.SetResourceVersion("")
				o.SetManagedFields(nil)
				if r.Name == "nodes" || r.Name == "pods" {
					delete(o.Object, "status")
				}
				text, err := json.Marshal(o.Object)
				g.Expect(err).NotTo(HaveOccurred())
				all[r.Name+" "+strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")] = string(text)
			}
		}
	}
	return all
}

func jsonLines(text string) []string {
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(text), "", "  "); err != nil {
		return []string{err.Error()}
	}
	return strings.Split(indented.String(), "\n")
}

// Differences lists what is new, gone or changed between two results of Everything.
func Differences(before, after map[string]string) []string {
	var all []string
	for name, was := range before {
		if is, there := after[name]; !there {
			all = append(all, name+" is gone")
		} else if is != was {
			all = append(all, name+" changed:\n"+diff.Diff(jsonLines(was), jsonLines(is)))
		}
	}
	for name, is := range after {
		if _, there := before[name]; !there {
			all = append(all, name+" is new: "+is)
		}
	}
	return all
}
