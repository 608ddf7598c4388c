import AwsS3 from "@uppy/aws-s3"
import Uppy from "@uppy/core"
import Dashboard from "@uppy/dashboard"

export const uppy = new Uppy().use(AwsS3, { companionEndpoint: "/api" }).use(Dashboard, {
  inline: true,
  target: "body"
})
