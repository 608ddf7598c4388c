export default {
  server: {
    proxy: {
      "/uploads": "http://127.0.0.1:8080",
      "/recordings": "http://127.0.0.1:8080"
    }
  }
}
