package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// machine is an instance that boots as an EKS node of Amazon Linux 2023.
type machine struct {
	*cloud.Instance
	cloud *cloud.Cloud
}

// Enter moves the instance to a state in the cloud.
func (m *machine) Enter(s simulator.State) { m.cloud.Enter(m.Instance, cloud.State(s)) }

// nodeConfig holds the part of nodeadm's configuration that a kubelet registers with.
// Source: https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/.
type nodeConfig struct {
	Spec struct {
		Kubelet struct {
			Config struct {
				MaxPods            int               `json:"maxPods"`
				RegisterWithTaints []corev1.Taint    `json:"registerWithTaints"`
				KubeReserved       map[string]string `json:"kubeReserved"`
				SystemReserved     map[string]string `json:"systemReserved"`
				EvictionHard       map[string]string `json:"evictionHard"`
			} `json:"config"`
			Flags []string `json:"flags"`
		} `json:"kubelet"`
	} `json:"spec"`
}

// nodeConfigType is the content type of nodeadm's configuration in user data.
const nodeConfigType = "application/node.eks.aws"

// readUserData returns nodeadm's configuration from an instance's user data.
func readUserData(encoded string) (c nodeConfig, err error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return c, fmt.Errorf("the user data is not base64: %w", err)
	}
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return c, fmt.Errorf("the user data is no MIME archive: %w", err)
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return c, fmt.Errorf("the user data is no MIME archive: %w", err)
	}
	parts := multipart.NewReader(message.Body, parameters["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return c, errors.New("the user data has no part of type " + nodeConfigType)
		}
		if err != nil {
			return c, err
		}
		if !strings.HasPrefix(part.Header.Get("Content-Type"), nodeConfigType) {
			continue
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return c, err
		}
		return c, yaml.Unmarshal(text, &c)
	}
}

// labels returns the labels of the kubelet's flag --node-labels.
func (c nodeConfig) labels() map[string]string {
	labels := map[string]string{}
	for _, flag := range c.Spec.Kubelet.Flags {
		list, is := strings.CutPrefix(flag, "--node-labels=")
		if !is {
			continue
		}
		for pair := range strings.SplitSeq(strings.Trim(list, `"`), ",") {
			key, value, _ := strings.Cut(pair, "=")
			labels[key] = value
		}
	}
	return labels
}

// Node returns the Node that the instance registers.
func (m *machine) Node() (simulator.Node, error) {
	n := simulator.Node{Name: m.PrivateDNS(), ProviderID: m.ProviderID()}
	config, err := readUserData(m.UserData)
	if err != nil {
		return n, err
	}
	n.Taints = config.Spec.Kubelet.Config.RegisterWithTaints
	n.Labels = map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelArchStable: architecture(m.Type.Arch), corev1.LabelOSStable: "linux",
		corev1.LabelInstanceTypeStable: m.Type.Name, corev1.LabelTopologyZone: m.Subnet.Zone.Name,
		corev1.LabelTopologyRegion: m.cloud.Region(),
		"topology.k8s.aws/zone-id": m.Subnet.Zone.ID,
	}
	maps.Copy(n.Labels, config.labels())
	n.Capacity = m.capacity(config)
	n.Allocatable, err = m.allocatable(config, n.Capacity)
	return n, err
}

// architecture returns Kubernetes' name for one of EC2's architectures.
func architecture(arch string) string {
	if arch == "x86_64" {
		return "amd64"
	}
	return arch
}

// seenMemory is the share of a machine's memory that the kernel and the firmware leave.
const seenMemory = 0.96

// rootDisk is the default size of a root volume, in GiB.
const rootDisk = 20

const mebi = 1 << 20

func (m *machine) capacity(config nodeConfig) corev1.ResourceList {
	pods := config.Spec.Kubelet.Config.MaxPods
	if pods == 0 {
		pods = m.Type.Pods()
	}
	disk := m.DiskGiB
	if disk == 0 {
		disk = rootDisk
	}
	has := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(m.Type.VCPUs), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(int64(float64(m.Type.MiB)*seenMemory)*mebi, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(int64(pods), resource.DecimalSI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(int64(disk)<<30, resource.BinarySI),
	}
	if d := m.Type.Devices; d != nil { // as a device plugin announces them
		has[deviceResource(d)] = *resource.NewQuantity(int64(d.Count), resource.DecimalSI)
	}
	return has
}

func deviceResource(d *cloud.Devices) corev1.ResourceName {
	if d.Manufacturer == "AWS" {
		return "aws.amazon.com/neuron"
	}
	return corev1.ResourceName(strings.ToLower(d.Manufacturer) + ".com/gpu")
}

// allocatable returns the capacity without the kubelet's reservations.
func (m *machine) allocatable(config nodeConfig, capacity corev1.ResourceList) (corev1.ResourceList, error) {
	k := config.Spec.Kubelet.Config
	pods := capacity[corev1.ResourcePods]
	reserved := map[string]string{
		"cpu": reservedCPU(m.Type.VCPUs), "memory": fmt.Sprintf("%dMi", 11*pods.Value()+255),
		"ephemeral-storage": "1Gi",
	}
	maps.Copy(reserved, k.KubeReserved)
	left := capacity.DeepCopy()
	for _, kept := range []map[string]string{
		reserved, k.SystemReserved,
		{"memory": memoryReserved(k.EvictionHard["memory.available"])},
	} {
		for name, text := range kept {
			amount, err := resource.ParseQuantity(text)
			if err != nil {
				return nil, fmt.Errorf("the kubelet's configuration: %s %q: %w", name, text, err)
			}
			q := left[corev1.ResourceName(name)]
			q.Sub(amount)
			left[corev1.ResourceName(name)] = q
		}
	}
	return left, nil
}

// memoryReserved returns the eviction threshold for memory. Percentages count as 100Mi.
func memoryReserved(threshold string) string {
	if threshold == "" || strings.HasSuffix(threshold, "%") {
		return "100Mi"
	}
	return threshold
}

// reservedCPU returns the CPU that nodeadm reserves: 6 % of the first, 1 % of the second,
// 0.5 % of each of the next two, and 0.25 % of each further one.
func reservedCPU(cpus int) string {
	tenths := 0 // of a milli-CPU
	for n := range cpus {
		switch {
		case n == 0:
			tenths += 600
		case n == 1:
			tenths += 100
		case n < 4:
			tenths += 50
		default:
			tenths += 25
		}
	}
	return fmt.Sprintf("%dm", (tenths+9)/10)
}
