// Command simulator simulates a region of AWS for Karpenter. At one address, it answers the
// calls of karpenter-provider-aws to EC2, IAM, EKS, Systems Manager, Pricing and SQS. Its
// instances join a cluster as Nodes that KWOK simulates.
//
//	AWS_ENDPOINT_URL=http://127.0.0.1:4566 karpenter
//
// Requests below /_sim/ inject faults and change the cloud from outside: see hooks.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/semver"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/aws/wire"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// options holds the command line.
type options struct {
	listen   string
	settings cloud.Settings
	cluster  wire.Cluster
	queue    string
	times    simulator.Times
	alone    bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, parse()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func parse() options {
	var o options
	flag.StringVar(&o.listen, "listen", "127.0.0.1:4566", "where to listen: on loopback, or on the pod's own address")
	flag.StringVar(&o.settings.Region, "region", "us-east-1", "simulated region")
	flag.Uint64Var(&o.settings.Seed, "seed", 1, "seed of the random choices: IDs, and what faults hit")
	flag.StringVar(&o.cluster.Name, "cluster", "plumbline", "name of the EKS cluster")
	flag.StringVar(&o.cluster.CIDR, "services", "10.0.0.0/16", "addresses of the cluster's services")
	flag.StringVar(&o.queue, "queue", "plumbline", "name of the queue of interruptions")
	flag.DurationVar(&o.times.Pending, "pending", 2*time.Second, "until an instance runs")
	flag.DurationVar(&o.times.Boot, "boot", 3*time.Second, "time from running until the kubelet registers")
	flag.DurationVar(&o.times.Ending, "ending", 2*time.Second, "from the end of an instance until it is gone")
	flag.DurationVar(&o.times.Notice, "notice", 3*time.Second, "then, until its node is deleted")
	flag.BoolVar(&o.alone, "alone", false, "run without a cluster: instances join nothing")
	flag.Parse()
	return o
}

func run(ctx context.Context, o options) error {
	live := func(*cloud.Instance) {}
	o.settings.Notify = func(i *cloud.Instance) { live(i) }
	c, err := cloud.New(o.settings)
	if err != nil {
		return err
	}
	nodes := &simulator.Cluster{}
	if !o.alone {
		if nodes, err = simulator.Connect(); err != nil {
			return err
		}
	}
	o.cluster.Endpoint, o.cluster.Version = nodes.Endpoint, strings.TrimPrefix(semver.MajorMinor(nodes.Version), "v")
	live = func(i *cloud.Instance) {
		nodes.Live(ctx, &machine{Instance: i, cloud: c}, o.times)
	}
	server := wire.New(c, o.cluster, o.queue)
	mux := http.NewServeMux()
	mux.Handle("/", server)
	handleHooks(mux, c, server.Journal())
	err = simulator.Serve(ctx, o.listen, mux)
	for _, call := range server.Journal().Unknown() {
		slog.Warn("call is not simulated", "call", call)
	}
	return err
}
