package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const trip = time.Millisecond

// inVirtualTime calls f with both ends of a delayed connection.
func inVirtualTime(t *testing.T, f func(t *testing.T, client, server net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		end, server := net.Pipe()
		client := Dialer{RoundTrip: trip, Requests: new(atomic.Int64)}.Wrap(end)
		f(t, client, server)
		client.Close()
		server.Close()
	})
}

// arrivals reads messages of one byte until the connection ends, and tells when each came.
func arrivals(conn net.Conn) (<-chan []time.Duration, <-chan []byte) {
	times, text := make(chan []time.Duration, 1), make(chan []byte, 1)
	began := time.Now()
	go func() {
		var when []time.Duration
		var all []byte
		for b := make([]byte, 1); ; {
			if _, err := conn.Read(b); err != nil {
				times <- when
				text <- all
				return
			}
			when, all = append(when, time.Since(began)), append(all, b[0])
		}
	}()
	return times, text
}

// What is written one after the other is under way together: a thousand writes take a thousand instants and one round trip, not a
// thousand of them, and arrive in order.
func TestWritesAreDelayedInParallel(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, client, server net.Conn) {
		times, text := arrivals(server)
		began := time.Now()
		var want []byte
		for i := range 1000 {
			want = append(want, byte(i))
			if n, err := client.Write([]byte{byte(i)}); n != 1 || err != nil {
				t.Fatalf("Write: %d, %v", n, err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the writes took %v; want none", took)
		}
		<-time.After(2 * trip)
		client.Close()
		server.Close()
		for i, when := range <-times {
			if when != trip {
				t.Fatalf("byte %d came after %v; want %v", i, when, trip)
			}
		}
		if got := <-text; !bytes.Equal(got, want) {
			t.Errorf("%d bytes came, or not in order", len(got))
		}
	})
}

// A write is late by the round trip, whatever is under way already, and may use its buffer again at once.
func TestEachWriteIsDelayed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, client, server net.Conn) {
		times, text := arrivals(server)
		buffer := []byte("a")
		for _, b := range "abc" {
			buffer[0] = byte(b)
			if _, err := client.Write(buffer); err != nil {
				t.Fatal(err)
			}
			<-time.After(trip / 4)
		}
		<-time.After(2 * trip)
		client.Close()
		server.Close()
		for i, when := range <-times {
			if want := trip + time.Duration(i)*trip/4; when != want {
				t.Errorf("byte %d came after %v; want %v", i, when, want)
			}
		}
		if got := <-text; string(got) != "abc" {
			t.Errorf("%q came", got)
		}
	})
}

func TestRepliesAreNotDelayed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, client, server net.Conn) {
		go func() { _, _ = io.Copy(server, server) }() // until the connection ends
		began := time.Now()
		if _, err := client.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != trip {
			t.Errorf("there and back took %v; want %v", took, trip)
		}
	})
}

func TestDeadlinesEndReadsAndWrites(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, client, _ net.Conn) {
		began := time.Now()
		if err := client.SetDeadline(began.Add(5 * trip)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 5*trip {
			t.Errorf("Read: %v after %v", err, time.Since(began))
		}
		if _, err := client.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Write: %v", err)
		}
		if err := client.SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write([]byte("x")); err != nil {
			t.Errorf("Write without a deadline: %v", err)
		}
		// nobody reads at the other end: it cannot be delivered, and the next write says so
		if err := client.SetWriteDeadline(time.Now().Add(trip)); err != nil {
			t.Fatal(err)
		}
		<-time.After(3 * trip)
		if err := client.SetWriteDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write([]byte("y")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Write after a delivery that failed: %v", err)
		}
	})
}

func TestWriteAfterCloseFails(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, client, _ net.Conn) {
		if err := errors.Join(client.Close(), client.Close()); err != nil {
			t.Errorf("Close: %v", err)
		}
		if _, err := client.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Write after Close: %v", err)
		}
	})
}
