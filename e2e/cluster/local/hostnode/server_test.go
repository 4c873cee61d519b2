package hostnode

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
)

func (d *desk) logRequest(path string) *http.Request {
	url := fmt.Sprintf("https://127.0.0.1:%d/containerLogs/%s", d.node.server.port(), path)
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, url, nil)
	d.Expect(err).NotTo(HaveOccurred())
	return request
}

func TestLogEndpoint(t *testing.T) {
	d := newDesk(t, Options{})
	signal := filepath.Join(t.TempDir(), "go on")
	d.pod(corev1.RestartPolicyNever, nil, "say=one", "say=two", "say=three", "await="+signal, "say=four")
	d.Eventually(d.log).Should(ContainSubstring("three"))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	get := func(path string) (int, string) {
		answer, err := client.Do(d.logRequest(path))
		d.Expect(err).NotTo(HaveOccurred())
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		d.Expect(err).NotTo(HaveOccurred())
		return answer.StatusCode, string(body)
	}
	for query, want := range map[string]string{
		"?tailLines=2": "two\nthree\n", "?tailLines=0": "", "?limitBytes=3": "one",
		"?tailLines=100": "one\ntwo\nthree\n",
	} {
		_, got := get("ns/p/main" + query)
		d.Expect(got).To(Equal(want), query)
	}
	time.AfterFunc(200*time.Millisecond, func() { _ = os.WriteFile(signal, nil, 0o600) })
	_, got := get("ns/p/main?follow=true&tailLines=1")
	d.Expect(got).To(Equal("three\nfour\n"), "up to the container's end")
	code, _ := get("ns/p/absent")
	d.Expect(code).To(Equal(http.StatusNotFound))
	code, _ = get("ns/../../etc/passwd")
	d.Expect(code).To(Equal(http.StatusNotFound))
}

func TestLogEndpointAsksForACertificate(t *testing.T) {
	ca, _, err := cert.GenerateSelfSignedCertKey("ca", nil, nil)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	d := newDesk(t, Options{KubeletCA: ca})
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer, err := client.Do(d.logRequest("ns/p/main"))
	if err == nil {
		_ = answer.Body.Close()
	}
	d.Expect(err).To(MatchError(ContainSubstring("certificate required")))
}
