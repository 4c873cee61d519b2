// Command program is what the tests run in containers. Each argument is one
// step; see the switch.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	for _, step := range os.Args[1:] {
		verb, rest, _ := strings.Cut(step, "=")
		if err := do(verb, rest); err != nil {
			fmt.Println(verb, rest, "failed:", err)
			os.Exit(9)
		}
	}
}

func do(verb, rest string) error {
	switch verb {
	case "say":
		fmt.Println(rest)
	case "env":
		fmt.Printf("%s=%s\n", rest, os.Getenv(rest))
	case "whoami":
		fmt.Printf("uid=%d gid=%d\n", os.Getuid(), os.Getgid())
	case "cat":
		data, err := os.ReadFile(rest)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", rest, data)
	case "ls":
		files, err := filepath.Glob(rest)
		if err != nil {
			return err
		}
		fmt.Println("files", strings.Join(files, " "))
	case "write":
		name, data, _ := strings.Cut(rest, ":")
		return os.WriteFile(name, []byte(data), 0o644)
	case "exit":
		code, err := strconv.Atoi(rest)
		if err != nil {
			return err
		}
		os.Exit(code)
	case "sleep":
		d, err := time.ParseDuration(rest)
		if err != nil {
			return err
		}
		time.Sleep(d)
	case "await": // a file
		for {
			if _, err := os.Stat(rest); err == nil {
				return nil
			}
			time.Sleep(5 * time.Millisecond)
		}
	case "get":
		return get(rest)
	case "serve":
		return serve(rest)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("stubborn")
		time.Sleep(time.Hour)
	case "patient":
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		fmt.Println("patient")
		<-term
		fmt.Println("bye")
	default:
		return fmt.Errorf("no such step")
	}
	return nil
}

// get asks the API server as any in-cluster client does.
func get(path string) error {
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	token, err := os.ReadFile(account + "token")
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	url := "https://" + os.Getenv("KUBERNETES_SERVICE_HOST") + ":" + os.Getenv("KUBERNETES_SERVICE_PORT") + path
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	fmt.Println("get", path, answer.StatusCode)
	return answer.Body.Close()
}

// serve listens on a port. /healthz is fine until /sicken was asked for, /livez always.
func serve(port string) error {
	var sick atomic.Bool
	http.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		if sick.Load() {
			http.Error(w, "sick", http.StatusInternalServerError)
		}
	})
	http.HandleFunc("/livez", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/sicken", func(http.ResponseWriter, *http.Request) { sick.Store(true) })
	fmt.Println("serving", port)
	return http.ListenAndServe("127.0.0.1:"+port, nil)
}
