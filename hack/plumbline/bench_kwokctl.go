package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/session"
)

// plainKwokctl starts clusters by kwokctl alone, with the programs of the plan's Kubernetes.
// They have no host node, no clock and no provider.
func plainKwokctl(ctx context.Context, plan *session.Plan, scratch string) ([]figure, error) {
	cache, err := build.Open(step)
	if err != nil {
		return nil, err
	}
	programs := map[string]string{}
	for _, pin := range []string{"kubernetes-" + semver.MajorMinor(plan.Setup.Cluster.Kubernetes), "etcd", "kwok"} {
		dir, err := cache.Pinned(ctx, pin)
		if err != nil {
			return nil, err
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			programs[e.Name()] = filepath.Join(dir, e.Name())
		}
	}
	var ready, memory []float64
	for i := range rounds {
		k := &kwokctlCluster{
			name: fmt.Sprintf("plain-%d-%d", os.Getpid(), i), folder: filepath.Join(scratch, "plain-"+strconv.Itoa(i)),
			programs:   programs,
			kubernetes: plan.Setup.Cluster.Kubernetes,
		}
		took, megabytes, err := k.measure(ctx)
		if err != nil {
			return nil, err
		}
		ready = append(ready, took.Seconds())
		memory = append(memory, megabytes)
	}
	return []figure{
		{Name: "kwokctl's cluster ready", Value: median(ready), Unit: "s"},
		{Name: "resident memory of kwokctl's cluster", Value: median(memory), Unit: "MB"},
	}, nil
}

// kwokctlCluster is a cluster of kwokctl in its own working directory.
type kwokctlCluster struct {
	name, folder, kubernetes string
	programs                 map[string]string // paths by name
}

// measure starts the cluster, waits like the local backend until it is ready, and ends it.
func (k *kwokctlCluster) measure(ctx context.Context) (took time.Duration, megabytes float64, err error) {
	if err := os.MkdirAll(k.folder, 0o700); err != nil {
		return 0, 0, err
	}
	// kwokctl probes the server by kubectl, and would download it.
	if err := os.WriteFile(filepath.Join(k.folder, "kubectl"), []byte("#!/bin/sh\n"),
		0o700); err != nil { //nolint:gosec // it's a program
		return 0, 0, err
	}
	// These options have no flags. Without them kwokctl listens on all interfaces.
	config := fmt.Sprintf("kind: KwokctlConfiguration\napiVersion: config.kwok.x-k8s.io/v1alpha1\noptions: "+
		"{bindAddress: 127.0.0.1, kubeVersion: %s}\n", k.kubernetes)
	if err := os.WriteFile(k.config(), []byte(config), 0o600); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	defer func() { err = errors.Join(err, k.run(context.WithoutCancel(ctx), "delete", "cluster")) }()
	err = k.run(ctx, "create", "cluster", "--config="+k.config(), "--runtime=binary", "--kubeconfig="+k.kubeconfig(),
		"--etcd-binary="+k.programs["etcd"], "--kube-apiserver-binary="+k.programs["kube-apiserver"],
		"--kube-controller-manager-binary="+k.programs["kube-controller-manager"],
		"--kube-scheduler-binary="+k.programs["kube-scheduler"], "--kwok-controller-binary="+k.programs["kwok"])
	if err != nil {
		return 0, 0, err
	}
	if err := k.awaitPods(ctx); err != nil {
		return 0, 0, err
	}
	took = time.Since(began)
	pids, err := k.processes()
	if err != nil {
		return 0, 0, err
	}
	megabytes, err = memoryOf(ctx, pids)
	return took, megabytes, err
}

func (k *kwokctlCluster) kubeconfig() string { return filepath.Join(k.folder, "kubeconfig") }

func (k *kwokctlCluster) config() string { return filepath.Join(k.folder, "kwokctl.yaml") }

func (k *kwokctlCluster) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, k.programs["kwokctl"], append(args, "--name="+k.name)...) //nolint:gosec // it is ours
	cmd.Env = []string{"HOME=" + k.folder, "KWOK_WORKDIR=" + k.folder, "PATH=" + k.folder + ":/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kwokctl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// awaitPods waits until pods can be created, which also needs the controller manager.
func (k *kwokctlCluster) awaitPods(ctx context.Context) error {
	access, err := clientcmd.LoadFromFile(k.kubeconfig())
	if err == nil {
		err = clientcmdapi.FlattenConfig(access) // clients watch key files, but these are removed
	}
	if err != nil {
		return err
	}
	config, err := clientcmd.NewDefaultClientConfig(*access, nil).ClientConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
			return err == nil, nil
		})
}

func (k *kwokctlCluster) processes() ([]int, error) {
	files, err := filepath.Glob(filepath.Join(k.folder, "clusters", k.name, "pids", "*.pid"))
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		return nil, fmt.Errorf("kwokctl has written no pid file for cluster %s", k.name)
	}
	return pids, nil
}
