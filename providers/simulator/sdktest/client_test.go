package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/iterator"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The client is a process of its own, since Go reads the proxy and the roots from the environment
// once. In these variables it is told about the API server of its cluster.
const (
	apiServerVariable = "SDKTEST_API_SERVER" // where the API server really listens; without it, the tests run
	apiCAVariable     = "SDKTEST_API_CA"     // a file
)

// The API server as a pod finds it, and a name in its certificate.
const (
	apiServer     = "10.96.0.1"
	apiServerName = "example.com"
)

// findings is what the client has found, as JSON on stdout.
type findings struct {
	Got, Listed []string // names of instances
	APIServer   string   // its version
	APIError    string
}

func TestMain(m *testing.M) {
	at, is := os.LookupEnv(apiServerVariable)
	if !is {
		os.Exit(m.Run())
	}
	ctx := context.Background()
	f, err := ask(ctx, at)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ask does what a controller on Compute Engine does: it creates an instance, and asks for it and for all of them, and
// it asks the API server, which listens at an address.
func ask(ctx context.Context, address string) (f findings, err error) {
	instances, err := compute.NewInstancesRESTClient(ctx)
	if err != nil {
		return f, err
	}
	defer instances.Close()
	creation, err := instances.Insert(ctx, &computepb.InsertInstanceRequest{
		Project: "p", Zone: "z", InstanceResource: &computepb.Instance{Name: new("a")},
	})
	if err != nil {
		return f, fmt.Errorf("inserting an instance: %w", err)
	}
	if err := creation.Wait(ctx); err != nil {
		return f, fmt.Errorf("waiting for an instance: %w", err)
	}
	one, err := instances.Get(ctx, &computepb.GetInstanceRequest{Project: "p", Zone: "z", Instance: "a"})
	if err != nil {
		return f, fmt.Errorf("getting an instance: %w", err)
	}
	f.Got = append(f.Got, one.GetName())
	list := instances.List(ctx, &computepb.ListInstancesRequest{Project: "p", Zone: "z"})
	for {
		one, err := list.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			return f, fmt.Errorf("listing instances: %w", err)
		}
		f.Listed = append(f.Listed, one.GetName())
	}
	if f.APIServer, err = version(address); err != nil {
		f.APIError = err.Error()
	}
	return f, nil
}

// version asks the API server for its version, as client-go does in a pod.
func version(address string) (string, error) {
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host:            "https://" + apiServer,
		TLSClientConfig: rest.TLSClientConfig{CAFile: os.Getenv(apiCAVariable), ServerName: apiServerName},
		// In place of the network of a cluster: the address of its API server is found on this machine.
		Dial: func(ctx context.Context, network, to string) (net.Conn, error) {
			if to == apiServer+":443" {
				to = address
			}
			return (&net.Dialer{}).DialContext(ctx, network, to)
		},
	})
	if err != nil {
		return "", err
	}
	v, err := client.Discovery().ServerVersion()
	if err != nil {
		return "", err
	}
	return v.GitVersion, nil
}
