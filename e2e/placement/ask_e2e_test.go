//go:build e2e

package placement

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local"
	"github.com/plumbline-e2e/plumbline/e2e/history"
)

func TestTheSchedulerSaysWherePodsWouldGo(t *testing.T) {
	g := NewWithT(t)
	cache, err := build.Open(func(line string) { t.Log(line) })
	g.Expect(err).NotTo(HaveOccurred())
	c, err := local.Start(t.Context(), cache, cluster.Options{
		Name: fmt.Sprintf("placement-%d", time.Now().UnixNano()), Kubernetes: "v1.36.3", Logs: t.TempDir(), Bare: true,
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(c.Close(t.Context())).To(Succeed()) })
	client, err := kubernetes.NewForConfig(c.Config())
	g.Expect(err).NotTo(HaveOccurred())

	made := func(name, cpu, claim string) *history.Object {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "app", Image: "app",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}},
			}}},
		}
		if claim != "" {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			}}}
		}
		g.Eventually(func() error {
			created, err := client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{})
			if err == nil {
				p = created
			}
			return err
		}, "10s").Should(Succeed())
		raw, err := json.Marshal(p)
		g.Expect(err).NotTo(HaveOccurred())
		o, err := history.NewObject(raw)
		g.Expect(err).NotTo(HaveOccurred())
		return o
	}
	_, err = client.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "later"}, Provisioner: "example.com/later",
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "v"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new("later"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	p := pool{Metadata: metav1.ObjectMeta{Name: "p"}}
	size := corev1.ResourceList{
		"cpu": resource.MustParse("4"), "memory": resource.MustParse("4Gi"), "pods": resource.MustParse("10"),
	}
	node := p.node(0, shape{map[string]string{corev1.LabelTopologyZone: "z"}, size, size}, nil)
	began := time.Now()
	answers, err := Ask(t.Context(), c.(cluster.Scheduling).RunScheduler, Question{
		Config: c.Config(), Nodes: []NewNode{node},
		Pods: []*history.Object{made("small", "1", ""), made("large", "9", ""), made("stored", "1", "v")},
	})
	t.Log("asked for", time.Since(began))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answers["default/small"].On).To(Equal(&node))
	g.Expect(answers["default/stored"].On).To(Equal(&node))
	g.Expect(answers["default/large"].On).To(BeNil())
	g.Expect(answers["default/large"].Why).To(ContainSubstring("Insufficient cpu"))
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, n := range nodes.Items {
		g.Expect(n.Name).NotTo(Equal(node.Node.Name))
	}
}
